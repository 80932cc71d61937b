"""What an agent's process gets: a directory, an environment from an allow-list, and its credential in a file."""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from greenroom.link.orders import StartOrder
from greenroom.link.profile_definition import PLACEHOLDERS, ProfileDefinition
from greenroom.node.worktrees import make_worktree, remove_worktree
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.driver_list import choose_quoting
from greenroom.runtimes.launch_error import LaunchError

_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSL_CERT_FILE")
_WORDS_OF_OTHERS = ("{prompt}", "{thread_topic}")
_SHELL = re.compile(r"(?:.*/)?[a-z]*sh", re.DOTALL)
_TAKES_SCRIPT = re.compile(r"-[A-Za-z]*c[A-Za-z]*|-C[a-z]*")
_PLACEHOLDER = re.compile("(" + "|".join(map(re.escape, PLACEHOLDERS)) + ")")
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "NO_UPDATE_NOTIFIER": "1",
}

_STARTED_WITH = (
    *("driver", "command", "directory", "worktree", "env", "pass_env"),
    *("sandbox", "model", "temperature", "instructions", "options", "may_spawn"),
)
"""What of a profile is settled when an agent's process is started."""


class Launch(NamedTuple):
    """An order to start an agent, and what comes with it."""

    run_id: str
    work: StartOrder
    token: str | None
    """The agent's credential, and its id."""
    credential: str | None


class LaunchContext(NamedTuple):
    """What a node gives to each of its agents: of its own environment, and the ways to the hub."""

    env: dict[str, str]
    mcp_url: str
    """On this machine, where it stays while the hub moves."""
    bus_address: str
    """The current address of the hub, for people and for commands."""
    asks: Callable[[str], asyncio.Event]
    """An event that is set once the holder of this credential has asked the hub for its tools."""


def make_session_options(folder: Path, agent_id: str, launch: Launch, given: LaunchContext) -> SessionOptions:
    """All that a driver needs to open this agent's session."""
    work, definition = launch.work, launch.work.definition
    if missing := work.missing_skills:
        raise LaunchError("launch.skill_missing", skill=missing[0])
    scratch = folder / "scratch" / agent_id
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    token_file = _write_private(scratch / "token", launch.token or "")
    directory = _make_directory(folder, agent_id, definition)
    way = choose_quoting(definition.driver, definition.command, definition.options)
    values = {
        "{thread_id}": work.thread_id or "",
        "{thread_topic}": way.quote(work.thread_topic or ""),
        "{bus_address}": given.bus_address,
        "{agent_id}": agent_id,
        "{token_file}": str(token_file),
        "{prompt}": way.quote(work.prompt),
    }
    return SessionOptions(
        command=fill_command(definition.command, values),
        directory=directory,
        scratch=scratch,
        env=build_environment(definition, given.env),
        hub_url=given.mcp_url,
        token_file=token_file,
        hub_asked=given.asks(launch.token) if launch.token else None,
        model=definition.model,
        temperature=definition.temperature,
        instructions=definition.instructions,
        resume=work.session,
        may_spawn=definition.may_spawn,
        options=definition.options,
    )


def extract_start_options(definition: ProfileDefinition) -> ProfileDefinition:
    """What a process is to be started with: two profiles that differ in it cannot share one."""
    return ProfileDefinition(**{name: getattr(definition, name) for name in _STARTED_WITH})


def fill_command(command: list[str], values: dict[str, str]) -> list[str]:
    """Put values into a command. After a `--` of its own the command has no options any more, so nothing is refused."""
    for place, argument in enumerate(command[1:], 1):
        before = command[:place]
        is_script = _TAKES_SCRIPT.fullmatch(before[-1]) is not None and any(map(_SHELL.fullmatch, before))
        if is_script and any(name in argument for name in _WORDS_OF_OTHERS):
            raise LaunchError("launch.in_script", argument=argument[:80])
    return [fill_argument(argument, values, plain="--" in command[:place]) for place, argument in enumerate(command)]


def fill_argument(argument: str, values: dict[str, str], *, plain: bool = False) -> str:
    """Insert values into one argument. It stays one argument, and inserted values are not parsed again."""
    pieces = _PLACEHOLDER.split(argument)
    filled = "".join(values.get(piece, piece) for piece in pieces)
    if filled[:1] in ("-", "@") and filled[:1] != argument[:1] and not plain:
        raise LaunchError("launch.could_be_option", argument=argument[:80], sign=filled[:1])
    return filled


def build_environment(definition: ProfileDefinition, env: dict[str, str]) -> dict[str, str]:
    """The agent's whole environment: a few variables everybody needs, those the profile names, and its own."""
    passed = {name: env[name] for name in (*_PASSED, *definition.pass_env) if name in env}
    return {**_QUIET, **passed, **definition.env}


def _make_directory(folder: Path, agent_id: str, definition: ProfileDefinition) -> Path:
    if definition.directory is None:
        own = folder / "work" / agent_id
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        return own
    directory = Path(definition.directory).expanduser()
    if not directory.is_dir():
        raise LaunchError("launch.no_directory", directory=directory)
    if not definition.worktree:
        return directory
    tree = folder / "worktrees" / agent_id
    if not tree.exists():
        make_worktree(directory, tree, agent_id)
    return tree


def remove_agent_files(folder: Path, agent_id: str, definition: ProfileDefinition | None, keep: bool) -> None:
    """Remove the agent's secrets; if it is not kept, its directory too unless there is something of it in there."""
    shutil.rmtree(folder / "scratch" / agent_id, ignore_errors=True)
    if keep:
        return
    with contextlib.suppress(OSError):  # it has left something there
        (folder / "work" / agent_id).rmdir()
    tree = folder / "worktrees" / agent_id
    if definition is not None and definition.directory and tree.is_dir():
        remove_worktree(Path(definition.directory).expanduser(), tree, agent_id)


def remove_leftover_files(folder: Path) -> None:
    """Remove what the agents of an earlier boot have left: their secrets, and directories with nothing in them."""
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    for own in (folder / "work").glob("*"):
        with contextlib.suppress(OSError):  # it has left something there
            own.rmdir()


def _write_private(path: Path, text: str) -> Path:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return path
