"""Profiles from files: agents/*.toml, config/available-agents.json in both its shapes, and those that we ship."""

import logging
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from greenroom.hub import Hub
from greenroom.log.errors import Refused
from greenroom.nouns.access.model import HUB
from greenroom.nouns.agents.profiles import Definition, DeleteProfile, PutProfile, find_profiles, problems

logger = logging.getLogger(__name__)
FOLDER = "agents"
LEGACY = Path("config") / "available-agents.json"


class BadProfile(Exception):
    """A profile's file is wrong; the message names the file, the key and what to write."""


def read_folder(folder: Path) -> Iterator[tuple[str, Definition]]:
    """Profiles of agents/*.toml; the file's name is the profile's."""
    for path in sorted(folder.glob("*.toml")):
        try:
            definition = msgspec.convert(tomllib.loads(path.read_text()), Definition)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise BadProfile(f"{path}: {error}") from error
        except msgspec.ValidationError as error:
            raise BadProfile(f"{path}: {error}; see docs/users/profiles.md") from error
        wrong = problems(path.stem, definition)
        if wrong:
            raise BadProfile(f"{path}: {'; '.join(wrong)}")
        yield path.stem, definition


def read_legacy(path: Path) -> Iterator[tuple[str, Definition]]:
    """Profiles of available-agents.json: a list under `agents`, or an object by name."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, OSError) as error:
        raise BadProfile(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise BadProfile(f"{path}: write an object, with agents by name or a list under 'agents'")
    listed = found.get("agents")
    entries = {e.get("name"): e for e in listed if isinstance(e, dict)} if isinstance(listed, list) else found
    for name, entry in entries.items():
        yield str(name), _legacy(path, str(name), entry)


def _legacy(path: Path, name: str, entry: Any) -> Definition:
    command = entry.get("invoke_command") if isinstance(entry, dict) else None
    if not isinstance(command, str | list) or not command:
        raise BadProfile(f"{path}: {name}: invoke_command is missing: write the command to start it with")
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise BadProfile(f"{path}: {name}: invoke_command cannot be split into words: {error}") from error
    definition = Definition(
        driver="command",
        display_name=str(entry.get("display_name") or entry.get("name") or name),
        description=str(entry.get("description") or ""),
        command=words,
        type="external",
        timeout_s=int(entry.get("timeout_seconds") or 30),
        enabled=bool(entry.get("enabled", True)),
    )
    wrong = problems(name, definition)
    if wrong:
        raise BadProfile(f"{path}: {name}: {'; '.join(wrong)}")
    return definition


async def load_profiles(hub: Hub, shipped: dict[str, Definition]) -> None:
    """Bring the hub's profiles in line with the files; a wrong file is told of and changes nothing."""
    wanted: dict[str, tuple[str, Definition]] = {name: ("builtin", one) for name, one in shipped.items()}
    try:
        if (hub.data / LEGACY).exists():
            wanted |= {name: ("legacy", one) for name, one in read_legacy(hub.data / LEGACY)}
        wanted |= {name: ("file", one) for name, one in read_folder(hub.data / FOLDER)}
    except BadProfile as wrong:
        logger.error("%s", wrong)
        return
    known = {profile.name: profile for profile in find_profiles(hub.rows)}
    for name, (source, definition) in wanted.items():
        if source == "builtin" and name in known and known[name].source != "builtin":
            continue  # an operator's own word goes before what ships with us
        try:
            await hub.log.do(PutProfile(by=HUB, name=name, definition=definition, source=source))
        except Refused as no:
            logger.error("profile %s: %s", name, no.message)
    for name, profile in known.items():
        if name not in wanted and profile.source in ("builtin", "file", "legacy"):
            await hub.log.do(DeleteProfile(by=HUB, name=name))
