"""Profiles from agents/*.toml, from config/available-agents.json in both its shapes, and whether they would start."""

import asyncio
import logging
import os
import shutil
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from greenroom.hub import Hub
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.model import Rows
from greenroom.nouns.access.model import HUB
from greenroom.nouns.agents.profiles import (
    Definition,
    DeleteProfile,
    Profile,
    PutProfile,
    explain,
    find_profiles,
    problems,
    read_definition,
)
from greenroom.nouns.nodes.model import NODES, Node

logger = logging.getLogger(__name__)
FOLDER = "agents"
LEGACY = Path("config") / "available-agents.json"
_LOOK_S = 2.0


class WrongFile(msgspec.Struct, frozen=True):
    """A file, or one profile in it, that cannot be used: the problem names the key and what to write."""

    file: str
    name: str | None
    problem: str


class Read(NamedTuple):
    """What the files say: profiles with their source, and what is wrong."""

    wanted: dict[str, tuple[str, Definition]]
    wrong: list[WrongFile]


def read_files(data: Path) -> Read:
    """All profiles that stand in the data directory's files."""
    found = Read({}, [])
    _read_legacy(data / LEGACY, found)
    for path in sorted((data / FOLDER).glob("*.toml")):
        try:
            fields = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            found.wrong.append(WrongFile(str(path), path.stem, f"it is not TOML: {error}"))
            continue
        _take(found, path, "file", path.stem, fields)
    return found


def _take(found: Read, path: Path, source: str, name: str, fields: Any) -> None:
    """Add one profile, or what is wrong with it."""
    try:
        definition = read_definition(fields)
        wrong = problems(name, definition)
    except (msgspec.ValidationError, ValueError) as error:
        wrong = [explain(error)]
    if wrong:
        found.wrong.append(WrongFile(str(path), name, "; ".join(wrong)))
    else:
        found.wanted[name] = (source, definition)


def _read_legacy(path: Path, found: Read) -> None:
    """Profiles of available-agents.json: a list under `agents`, or an object by name."""
    if not path.exists():
        return
    try:
        entries = _entries(msgspec.json.decode(path.read_bytes()))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, OSError) as error:
        found.wrong.append(WrongFile(str(path), None, str(error)))
        return
    for name, entry in entries:
        try:
            fields = _from_legacy(name, entry)
        except ValueError as error:
            found.wrong.append(WrongFile(str(path), name, str(error)))
            continue
        _take(found, path, "legacy", name, fields)


def _entries(found: Any) -> list[tuple[str, Any]]:
    listed = found.get("agents", found) if isinstance(found, dict) else None
    if isinstance(listed, list):
        return [(str(entry.get("name") or ""), entry) for entry in listed if isinstance(entry, dict)]
    if isinstance(listed, dict):
        return list(listed.items())
    raise ValueError("write an object, with agents by name or as a list under 'agents'")


def _from_legacy(name: str, entry: Any) -> dict[str, Any]:
    command = entry.get("invoke_command") if isinstance(entry, dict) else None
    if not isinstance(command, str | list) or not command:
        raise ValueError("invoke_command: it is missing; write the command to start the agent with")
    shown = entry.get("display_name") or entry.get("name") or name
    return {
        "driver": "command",
        "display_name": shown,
        "description": entry.get("description") or "",
        "command": command,
        "type": "external",
        "timeout_s": entry.get("timeout_seconds", 30),
        "enabled": entry.get("enabled", True),
    }


async def load_profiles(hub: Hub, shipped: dict[str, Definition]) -> None:
    """Bring the hub's profiles in line with the files; what is wrong is told of, and its last good version stays."""
    read = read_files(hub.data)
    for wrong in read.wrong:
        logger.error("%s: %s%s", wrong.file, f"{wrong.name}: " if wrong.name else "", wrong.problem)
    known = {profile.name: profile for profile in find_profiles(hub.rows)}
    wanted = {name: ("builtin", one) for name, one in shipped.items()} | read.wanted
    for name, (source, definition) in wanted.items():
        if source == "builtin" and name in known and _stays(known[name], read.wrong, among=("api", "bundle")):
            continue  # an operator's own word goes before what ships with us
        try:
            await hub.log.do(PutProfile(by=HUB, name=name, definition=definition, source=source))
        except Refused as no:
            logger.error("profile %s: %s", name, no.message)
    for name, profile in known.items():
        if name not in wanted and not _stays(profile, read.wrong, among=("api", "bundle")):
            await hub.log.do(DeleteProfile(by=HUB, name=name))


def _stays(profile: Profile, wrong: list[WrongFile], among: tuple[str, ...]) -> bool:
    """Whether a profile stays though no file gives it now: it comes from elsewhere, or its file is wrong just now."""
    if profile.source in among:
        return True
    return profile.source in ("file", "legacy") and any(
        one.name == profile.name or (one.name is None and profile.source == "legacy") for one in wrong
    )


def _stamp(data: Path) -> list[tuple[str, int, int]]:
    """What changes when one of the files does."""
    out = []
    for path in (data / LEGACY, *sorted((data / FOLDER).glob("*.toml"))):
        try:
            seen = path.stat()
        except FileNotFoundError:
            continue
        out.append((path.name, seen.st_mtime_ns, seen.st_size))
    return out


async def watch_profiles(hub: Hub, shipped: dict[str, Definition]) -> None:
    """Take up changes of the files while the hub runs; to be run as a task, after they were loaded once."""
    loaded: list[tuple[str, int, int]] | None = None
    while True:
        try:
            stamp = _stamp(hub.data)
            if stamp != loaded:
                await load_profiles(hub, shipped)
                loaded = stamp
        except (OSError, Unavailable) as error:
            logger.warning("the files of profiles cannot be looked at now: %s", error)
        await asyncio.sleep(_LOOK_S)


class NodeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One node that has the driver: its version there, and what stands in the way."""

    node: str
    state: str
    version: str
    problems: list[str] = []


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a profile. `ok` when some node could start it now."""

    name: str
    driver: str
    source: str
    enabled: bool
    ok: bool
    problems: list[str]
    nodes: list[NodeHealth]


def health_of(rows: Rows, profile: Profile) -> Health:
    """Look at a profile on every node that could run it."""
    definition = profile.definition
    wrong = problems(profile.name, definition)
    if not definition.enabled:
        wrong.append("enabled: it is switched off; write enabled = true")
    every = rows.find(NODES, order="_key")
    pinned = [node for node in every if definition.node in (None, node.id, node.name)]
    if not pinned:
        wrong.append(f"node: there is no node '{definition.node}'; see `greenroom node list`")
    labelled = [node for node in pinned if set(definition.labels) <= set(node.labels)]
    if pinned and not labelled:
        wrong.append(f"labels: no node has all of {', '.join(definition.labels)}")
    having = [node for node in labelled if definition.driver in node.drivers]
    if labelled and not having:
        known = sorted({name for node in labelled for name in node.drivers})
        wrong.append(f"driver: no node has '{definition.driver}' (found: {', '.join(known) or 'none'}); install it")
    nodes = [_on(node, definition) for node in having]
    ok = not wrong and any(not node.problems for node in nodes)
    return Health(
        name=profile.name,
        driver=definition.driver,
        source=profile.source,
        enabled=definition.enabled,
        ok=ok,
        problems=wrong,
        nodes=nodes,
    )


def _on(node: Node, definition: Definition) -> NodeHealth:
    """What stands in the way on one node. Only the hub's own machine is looked at; others tell when they start it."""
    wrong = [] if node.state == "connected" else [f"the node is {node.state}"]
    if node.draining:
        wrong.append(f"the node takes no agents now: `greenroom node undrain {node.name}`")
    if node.local:
        if definition.directory and not Path(definition.directory).expanduser().is_dir():
            wrong.append(f"directory: {definition.directory} is not there; make it, or name another")
        if definition.command and not _is_there(definition):
            wrong.append(f"command: {definition.command[0]} is not installed, or not on PATH")
        missing = [name for name in definition.pass_env if name not in os.environ]
        if missing:
            wrong.append(f"pass_env: {', '.join(missing)} is not set where the hub runs")
    return NodeHealth(node=node.name, state=node.state, version=node.drivers[definition.driver], problems=wrong)


def _is_there(definition: Definition) -> bool:
    """A name is looked for on PATH only; a path must be whole, for the working directory is never searched."""
    program = definition.command[0]
    path = definition.env.get("PATH", os.environ.get("PATH"))
    return shutil.which(program, path=path) is not None and ("/" not in program or Path(program).is_absolute())
