"""Where programs keep their MCP servers, and how the hub is put in there and taken out: nothing else changes."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from greenroom.log.errors import Refused

NAME = "greenroom"
_BEGIN = "# begin greenroom: written by `greenroom connect`"
_END = "# end greenroom"
Entry = Callable[[list[str]], dict[str, Any]]


class Program(NamedTuple):
    """How one program wants it: its file below the home, the key that holds its servers, and the entry's form."""

    shown: str
    file: str
    key: str
    entry: Entry
    moved_by: tuple[str, str] = ("", "")
    """The variable that names another folder for its settings, and the file in there."""


class Place(NamedTuple):
    """The file to change for one program."""

    program: Program
    file: Path

    @property
    def is_toml(self) -> bool:
        return self.file.suffix == ".toml"


def _plain(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _stdio(command: list[str]) -> dict[str, Any]:
    return {"type": "stdio", **_plain(command)}


def _codex(command: list[str]) -> dict[str, Any]:
    return {**_plain(command), "tool_timeout_sec": 600}  # it does not take progress for life


def _opencode(command: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "enabled": True}


def _copilot(command: list[str]) -> dict[str, Any]:
    return {"type": "local", **_plain(command), "tools": ["*"]}


_CODE = "Library/Application Support/Code/User/mcp.json" if sys.platform == "darwin" else ".config/Code/User/mcp.json"
PROGRAMS: dict[str, Program] = {
    "claude": Program("Claude Code", ".claude.json", "mcpServers", _stdio, ("CLAUDE_CONFIG_DIR", ".claude.json")),
    "codex": Program("Codex", ".codex/config.toml", "mcp_servers", _codex, ("CODEX_HOME", "config.toml")),
    "cursor": Program("Cursor", ".cursor/mcp.json", "mcpServers", _plain),
    "opencode": Program(
        "OpenCode",
        ".config/opencode/opencode.json",
        "mcp",
        _opencode,
        ("XDG_CONFIG_HOME", "opencode/opencode.json"),
    ),
    "gemini": Program("Gemini CLI", ".gemini/settings.json", "mcpServers", _plain),
    "copilot": Program("Copilot CLI", ".copilot/mcp-config.json", "mcpServers", _copilot),
    "vscode": Program("VS Code", _CODE, "servers", _stdio),
}


def place_of(name: str, home: Path, file: Path | None, env: Mapping[str, str]) -> Place:
    program = PROGRAMS[name]
    variable, moved = program.moved_by
    own = Path(env[variable], moved) if env.get(variable) else home / program.file
    return Place(program, file or own)


def with_entry(place: Place, text: str, command: list[str]) -> str:
    """The file's text with the hub in it."""
    entry = place.program.entry(command)
    if place.is_toml:
        return _with_block(place, text, entry)
    found = _object(place, text)
    servers = found.get(place.program.key)
    if servers is not None and not isinstance(servers, dict):
        raise _unreadable(place, f"'{place.program.key}' is no object")
    if servers and servers.get(NAME) == entry:
        return text
    return _json({**found, place.program.key: {**(servers or {}), NAME: entry}})


def without_entry(place: Place, text: str) -> str:
    """The file's text without it."""
    if place.is_toml:
        return _without_block(text)
    found = _object(place, text)
    servers = found.get(place.program.key)
    if not isinstance(servers, dict) or NAME not in servers:
        return text
    return _json({**found, place.program.key: {name: one for name, one in servers.items() if name != NAME}})


def _object(place: Place, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _unreadable(place, str(error)) from None
    if not isinstance(found, dict):
        raise _unreadable(place, "it holds no object")
    return found


def _unreadable(place: Place, why: str) -> Refused:
    return Refused(
        "file_unusable",
        f"{place.file} cannot be changed ({why}): see what belongs into it with --print, and put it in by hand.",
    )


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _with_block(place: Place, text: str, entry: dict[str, Any]) -> str:
    """TOML is not written anew, which would lose its comments: our part is a block at its end."""
    rest = _without_block(text)
    try:
        known = tomllib.loads(rest).get(place.program.key, {})
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(place, str(error)) from None
    if NAME in known:
        raise _unreadable(place, f"it has a server '{NAME}' that somebody else wrote")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    head = f"{rest.rstrip()}\n\n" if rest.strip() else ""
    return head + "\n".join([_BEGIN, f"[{place.program.key}.{NAME}]", *lines, _END]) + "\n"


def _without_block(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        return text
    _, end, after = rest.partition(_END)
    if not end:
        return text
    return (before.rstrip() + "\n" if before.strip() else "") + after.lstrip("\n")
