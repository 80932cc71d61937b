"""Profiles from agents/*.toml, and from config/available-agents.json in both its formats."""

import asyncio
import logging
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from greenroom.errors import Refused, Unavailable
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.profiles import (
    PEOPLES_SOURCES,
    DeleteProfile,
    Profile,
    PutProfile,
    explain_definition_error,
    find_profile_problems,
    find_profiles,
    read_definition,
)
from greenroom.rules.agents.wrong_profiles import NoteWrongProfiles, WrongFile
from greenroom.sentences import Words, build_sentence
from greenroom.services.hub import Hub
from greenroom.services.period import get_time_left_s
from greenroom.validation import InvalidField

logger = logging.getLogger(__name__)
FOLDER = "agents"
LEGACY = Path("config") / "available-agents.json"
_LOOK_S = 2.0
_LEGACY_S = 30
_LEGACY_MOST_S = 86_400
_MOST_WRONG = 200
_MOST_PROBLEMS = 10


class ProfileFilesContent(NamedTuple):
    """What the files say: profiles with their source, and what is wrong."""

    wanted: dict[str, tuple[str, ProfileDefinition]]
    wrong: list[WrongFile]


def read_profile_files(data: Path) -> ProfileFilesContent:
    """All profiles in the data directory's files."""
    found = ProfileFilesContent({}, [])
    _read_legacy(data, found)
    for path in sorted((data / FOLDER).glob("*.toml")):
        file = str(path.relative_to(data))
        try:
            fields = tomllib.loads(path.read_text())
        except OSError as error:
            found.wrong.append(
                WrongFile(file, path.stem, build_sentence("wrong_file.unreadable", error=error.strerror))
            )
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            found.wrong.append(WrongFile(file, path.stem, build_sentence("wrong_file.not_toml", error=error)))
        else:
            _take(found, file, "file", path.stem, fields)
    return found


def _take(found: ProfileFilesContent, file: str, source: str, name: str, fields: Any) -> None:
    """Add one profile, or what is wrong with it."""
    try:
        definition = read_definition(fields)
        wrong: list[Words] = [*find_profile_problems(name, definition)]
    except (msgspec.ValidationError, ValueError) as error:
        wrong = [explain_definition_error(error)]
    if wrong:
        said = build_sentence("wrong_file.problems", problems=wrong[:_MOST_PROBLEMS])
        found.wrong.append(WrongFile(file, name, said))
    else:
        found.wanted[name] = (source, definition)


def _read_legacy(data: Path, found: ProfileFilesContent) -> None:
    """Profiles of available-agents.json: a list under `agents`, or an object by name; none if one of them is wrong."""
    file = str(LEGACY)
    own = ProfileFilesContent({}, [])
    try:
        entries = _find_entries(msgspec.json.decode((data / LEGACY).read_bytes()))
    except FileNotFoundError:
        return
    except (msgspec.DecodeError, ValueError, RecursionError, OSError) as error:
        found.wrong.append(WrongFile(file, None, build_sentence("wrong_file.wrong", error=error)))
        return
    for name, entry in entries:
        try:
            fields = _convert_legacy(name, entry)
        except ValueError as error:
            own.wrong.append(WrongFile(file, name, explain_definition_error(error)))
            continue
        _take(own, file, "legacy", name, fields)
    if own.wrong:
        found.wrong.extend([*own.wrong, WrongFile(file, None, build_sentence("wrong_file.none_taken"))])
    else:
        found.wanted.update(own.wanted)


def _find_entries(found: Any) -> list[tuple[str, Any]]:
    listed = found.get("agents", found) if isinstance(found, dict) else None
    if isinstance(listed, list):
        return [(str(entry.get("name") or "") if isinstance(entry, dict) else "", entry) for entry in listed]
    if isinstance(listed, dict):
        return list(listed.items())
    raise InvalidField("agents", build_sentence("wrong_file.no_agents"))


def _convert_legacy(name: str, entry: Any) -> dict[str, Any]:
    command = entry.get("invoke_command") if isinstance(entry, dict) else None
    if not isinstance(command, str | list) or not command:
        raise InvalidField("invoke_command", build_sentence("wrong_file.no_command"))
    timeout_s = entry.get("timeout_seconds", _LEGACY_S)
    if type(timeout_s) not in (int, float) or not 0 < timeout_s <= _LEGACY_MOST_S:
        raise InvalidField("timeout_seconds", build_sentence("wrong_file.timeout", limit=_LEGACY_MOST_S))
    shown = entry.get("display_name") or entry.get("name") or name
    return {
        "driver": "command",
        "display_name": shown,
        "description": entry.get("description") or "",
        "command": command,
        "type": "external",
        "timeout_s": int(timeout_s) + _LEGACY_S,  # the command is ended before a person would be asked about it
        "enabled": entry.get("enabled", True),
        "options": {"timeout_s": timeout_s},
    }


async def load_profiles(hub: Hub, shipped: dict[str, ProfileDefinition]) -> None:
    """Update the hub's profiles from the files; errors are reported, and the last good version stays."""
    read = read_profile_files(hub.data)
    for wrong in read.wrong:
        logger.error("%s: %s%s", hub.data / wrong.file, f"{wrong.name}: " if wrong.name else "", wrong.problem)
    await hub.log.do(NoteWrongProfiles(by=HUB, found=read.wrong[:_MOST_WRONG]))
    known = {profile.name: profile for profile in find_profiles(hub.rows)}
    wanted = {name: ("builtin", one) for name, one in shipped.items()} | read.wanted
    for name, (source, definition) in wanted.items():
        if source == "builtin" and name in known and _is_kept(known[name], read.wrong):
            continue  # an operator's own word goes before what ships with us
        try:
            await hub.log.do(PutProfile(by=HUB, name=name, definition=definition, source=source))
        except Refused as no:
            logger.error("profile %s: %s", name, no.message)
    for name, profile in known.items():
        if name not in wanted and not _is_kept(profile, read.wrong):
            await hub.log.do(DeleteProfile(by=HUB, name=name))


def _is_kept(profile: Profile, wrong: list[WrongFile]) -> bool:
    """Whether a profile stays although no file defines it: it comes from elsewhere, or its file has an error."""
    if profile.source in PEOPLES_SOURCES:
        return True
    return profile.source in ("file", "legacy") and any(
        one.name == profile.name or (one.name is None and profile.source == "legacy") for one in wrong
    )


def _read_stamps(data: Path) -> list[tuple[str, int, int]]:
    """What changes when one of the files does."""
    out = []
    for path in (data / LEGACY, *sorted((data / FOLDER).glob("*.toml"))):
        try:
            seen = path.stat()
        except FileNotFoundError:
            continue
        out.append((path.name, seen.st_mtime_ns, seen.st_size))
    return out


async def watch_profiles(hub: Hub, shipped: dict[str, ProfileDefinition]) -> None:
    """Reload the files when they change; to be run as a task, after they were loaded once."""
    loaded: list[tuple[str, int, int]] | None = None
    while True:
        try:
            stamp = _read_stamps(hub.data)
            if stamp != loaded:
                await load_profiles(hub, shipped)
                loaded = stamp
        except (OSError, Refused, Unavailable) as error:
            logger.warning("the files of profiles cannot be looked at now: %s", error)
        await asyncio.sleep(get_time_left_s(_LOOK_S))
