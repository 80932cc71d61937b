"""The files in which programs keep their MCP servers. The hub's entry is added and removed; nothing else changes."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.runtimes.agent_cli import McpConfig
from greenroom.runtimes.agents import AGENTS

NAME = "greenroom"
_BEGIN = "# begin greenroom: written by `greenroom connect`"
_END = "# end greenroom"
PROGRAMS: dict[str, McpConfig] = {agent.name: agent.mcp_config for agent in AGENTS if agent.mcp_config}


class ConfigFile(NamedTuple):
    """The file to change for one program."""

    program: McpConfig
    file: Path

    @property
    def is_toml(self) -> bool:
        return self.file.suffix == ".toml"


def locate_config_file(name: str, home: Path, file: Path | None, env: Mapping[str, str]) -> ConfigFile:
    program = PROGRAMS[name]
    variable, moved = program.moved_by
    own = Path(env[variable], moved) if env.get(variable) else home / program.file
    return ConfigFile(program, file or own)


def add_entry(place: ConfigFile, text: str, command: list[str]) -> str:
    """The file's text with the hub in it."""
    entry = place.program.build_entry(command)
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


def _parse_object(place: ConfigFile, text: str) -> JsonObject:
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _build_unreadable_error(place, str(error)) from None
    if not isinstance(found, dict):
        raise _build_unreadable_error(place, "it holds no object")
    return found


def _build_unreadable_error(place: ConfigFile, why: str) -> Refused:
    return Refused.in_words(
        "file_unusable",
        f"{place.file} cannot be changed ({why}): see what belongs into it with --print, and put it in by hand.",
    )


def _dump_json(value: JsonObject) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _add_block(place: ConfigFile, text: str, entry: JsonObject) -> str:
    """TOML is not rewritten, which would lose its comments: our part is a block at its end."""
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
