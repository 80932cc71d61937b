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


class ConfigFile(NamedTuple):
    """The file to change for one program."""

    program: Program
    file: Path

    @property
    def is_toml(self) -> bool:
        return self.file.suffix == ".toml"


def _build_plain_entry(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _build_stdio_entry(command: list[str]) -> dict[str, Any]:
    return {"type": "stdio", **_build_plain_entry(command)}


def _build_codex_entry(command: list[str]) -> dict[str, Any]:
    return {**_build_plain_entry(command), "tool_timeout_sec": 600}  # it does not take progress for life


def _build_opencode_entry(command: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "enabled": True}


def _build_copilot_entry(command: list[str]) -> dict[str, Any]:
    return {"type": "local", **_build_plain_entry(command), "tools": ["*"]}


_CODE = "Library/Application Support/Code/User/mcp.json" if sys.platform == "darwin" else ".config/Code/User/mcp.json"
PROGRAMS: dict[str, Program] = {
    "claude": Program(
        "Claude Code", ".claude.json", "mcpServers", _build_stdio_entry, ("CLAUDE_CONFIG_DIR", ".claude.json")
    ),
    "codex": Program("Codex", ".codex/config.toml", "mcp_servers", _build_codex_entry, ("CODEX_HOME", "config.toml")),
    "cursor": Program("Cursor", ".cursor/mcp.json", "mcpServers", _build_plain_entry),
    "opencode": Program(
        "OpenCode",
        ".config/opencode/opencode.json",
        "mcp",
        _build_opencode_entry,
        ("XDG_CONFIG_HOME", "opencode/opencode.json"),
    ),
    "gemini": Program("Gemini CLI", ".gemini/settings.json", "mcpServers", _build_plain_entry),
    "copilot": Program("Copilot CLI", ".copilot/mcp-config.json", "mcpServers", _build_copilot_entry),
    "vscode": Program("VS Code", _CODE, "servers", _build_stdio_entry),
}


def locate_config_file(name: str, home: Path, file: Path | None, env: Mapping[str, str]) -> ConfigFile:
    program = PROGRAMS[name]
    variable, moved = program.moved_by
    own = Path(env[variable], moved) if env.get(variable) else home / program.file
    return ConfigFile(program, file or own)


def add_entry(place: ConfigFile, text: str, command: list[str]) -> str:
    """The file's text with the hub in it."""
    entry = place.program.entry(command)
    if place.is_toml:
        return _add_block(place, text, entry)
    found = _parse_object(place, text)
    servers = found.get(place.program.key)
    if servers is not None and not isinstance(servers, dict):
        raise _build_unreadable_error(place, f"'{place.program.key}' is no object")
    if servers and servers.get(NAME) == entry:
        return text
    return _dump_json({**found, place.program.key: {**(servers or {}), NAME: entry}})


def remove_entry(place: ConfigFile, text: str) -> str:
    """The file's text without it."""
    if place.is_toml:
        return _remove_block(text)
    found = _parse_object(place, text)
    servers = found.get(place.program.key)
    if not isinstance(servers, dict) or NAME not in servers:
        return text
    return _dump_json({**found, place.program.key: {name: one for name, one in servers.items() if name != NAME}})


def _parse_object(place: ConfigFile, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _build_unreadable_error(place, str(error)) from None
    if not isinstance(found, dict):
        raise _build_unreadable_error(place, "it holds no object")
    return found


def _build_unreadable_error(place: ConfigFile, why: str) -> Refused:
    return Refused(
        "file_unusable",
        f"{place.file} cannot be changed ({why}): see what belongs into it with --print, and put it in by hand.",
    )


def _dump_json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _add_block(place: ConfigFile, text: str, entry: dict[str, Any]) -> str:
    """TOML is not written anew, which would lose its comments: our part is a block at its end."""
    rest = _remove_block(text)
    try:
        known = tomllib.loads(rest).get(place.program.key, {})
    except tomllib.TOMLDecodeError as error:
        raise _build_unreadable_error(place, str(error)) from None
    if NAME in known:
        raise _build_unreadable_error(place, f"it has a server '{NAME}' that somebody else wrote")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    head = f"{rest.rstrip()}\n\n" if rest.strip() else ""
    return head + "\n".join([_BEGIN, f"[{place.program.key}.{NAME}]", *lines, _END]) + "\n"


def _remove_block(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        return text
    _, end, after = rest.partition(_END)
    if not end:
        return text
    return (before.rstrip() + "\n" if before.strip() else "") + after.lstrip("\n")
