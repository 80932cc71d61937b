"""`greenroom doctor`: is everything here that Greenroom needs, and what to do about what is not."""

import argparse
import contextlib
import os
import platform
import resource
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from greenroom import settings
from greenroom.cli.client import Client, HubUnreachable, add_data_option, add_json_option, get_own_url
from greenroom.cli.terminal import format_size, line, show_json
from greenroom.log.directory import OPERATOR_TOKEN

AGENTS = ("claude", "codex", "opencode", "gemini", "copilot")
_SQLITE = (3, 51, 3)
_BAD_SQLITE = (3, 52, 0)
_VERSION_S = 10
_LOW_BYTES = 1 << 30
_EMPTY_BYTES = 100 << 20
_DESCRIPTORS = 4096


class Finding(NamedTuple):
    """One thing looked at. `remedy` says what to do when it is not ok."""

    name: str
    level: Literal["ok", "note", "error"]
    found: str
    remedy: str = ""


RISKS = (
    Finding(
        "your account",
        "note",
        "an agent without a sandbox can do what you can: read your files and the operator's token, and act as you",
        'give its profile sandbox = "bwrap", or run its node under another account or on another machine.',
    ),
    Finding(
        "your browser",
        "note",
        "a program that can click or type in your desktop session can approve in a browser that is logged in",
        "approve on another device, and log out where agents can reach the screen.",
    ),
)
"""What no check can rule out. SECURITY.md says more."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "doctor",
        help="see whether everything is here that Greenroom needs",
        description="Look at Python, SQLite, the data directory, the database if one is set, the hub, its port, the"
        " files of profiles, the disk, the sandbox and the agents installed.",
        epilog="example: greenroom doctor --json",
    )
    add_data_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    findings = list(examine(settings.data_dir(args.data)))
    if args.json:
        show_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            remedy = f" — {finding.remedy}" if finding.remedy else ""
            print(f"{finding.level:5}  {finding.name:15}  {line(finding.found)}{line(remedy)}")
    return 1 if any(finding.level == "error" for finding in findings) else 0


def examine(data: Path) -> Iterator[Finding]:
    """Everything that is looked at, in order."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(AGENTS)) as threads:
        agents = [threads.submit(_agent, name) for name in AGENTS]
        yield _python()
        yield _sqlite()
        yield from _directory(data)
        yield from _configured(data)
        yield from _profiles(data)
        yield _disk(data)
        yield _descriptors()
        yield _sandbox(data)
        for agent in agents:
            yield agent.result()
    yield from RISKS


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _sqlite() -> Finding:
    import apsw

    text = apsw.sqlite_lib_version()
    version = tuple(int(part) for part in text.split("."))
    if version >= _SQLITE and version != _BAD_SQLITE:
        return Finding("sqlite", "ok", text)
    return Finding("sqlite", "error", text, "this SQLite can damage its WAL: install apsw 3.54 or newer.")


def _directory(data: Path) -> Iterator[Finding]:
    name = "data directory"
    if data.is_symlink():
        yield Finding(name, "error", f"{data} is a link", "name the directory itself with --data.")
    elif not data.exists():
        yield Finding(name, "note", f"{data} is not there yet", "the first `greenroom serve` makes it.")
    elif not data.is_dir() or data.stat().st_uid != os.getuid():
        yield Finding(name, "error", f"{data} is not a directory of yours", "choose another with --data.")
    elif stat.S_IMODE(data.stat().st_mode) & 0o077:
        mode = f"{stat.S_IMODE(data.stat().st_mode):04o}"
        yield Finding(name, "error", f"{data} is open to other users ({mode})", f"close it: chmod 700 {data}")
    else:
        yield Finding(name, "ok", str(data))
    token = data / OPERATOR_TOKEN
    with contextlib.suppress(OSError):
        if token.exists() and stat.S_IMODE(token.stat().st_mode) & 0o077:
            yield Finding("operator token", "error", f"{token} is open to other users", f"close it: chmod 600 {token}")


def _configured(data: Path) -> Iterator[Finding]:
    try:
        loaded = settings.load(data)
    except settings.BadSettings as error:
        yield Finding("settings", "error", str(error), "see docs/users/settings.md.")
        return
    if loaded.database is not None:
        yield _database(loaded.database)
    yield from _hub(data, loaded)


def _database(url: str) -> Finding:
    from greenroom.cli.doctor_database import look_at_database

    seen = look_at_database(url)
    return Finding("database", "error" if seen.remedy else "ok", seen.found, seen.remedy)


def _hub(data: Path, loaded: settings.Settings) -> Iterator[Finding]:
    try:
        url = get_own_url(data)
    except HubUnreachable as error:
        yield Finding("hub", "error", str(error), "stop the hub, remove that file, and start it again.")
        return
    if url is not None and Client(url, "").is_there():
        yield Finding("hub", "ok", f"running at {url}")
        if loaded.local_node:
            yield from _node(data)
        return
    found = f"it does not answer at {url}" if url else "not running"
    yield Finding("hub", "note", found, "start it with `greenroom serve`.")
    yield _port(loaded)


def _node(data: Path) -> Iterator[Finding]:
    from greenroom.gateway.local_node import FOLDER, LOG, is_running, last_words

    if is_running(data / FOLDER):
        yield Finding("node", "ok", "running")
    elif (data / FOLDER).exists():  # else the hub has none on this machine
        log = data / FOLDER / LOG
        yield Finding("node", "error", f"not running, so that no agent starts here: {last_words(log)}", f"see {log}.")


def _port(loaded: settings.Settings) -> Finding:
    import socket

    try:
        family, kind, _, _, address = socket.getaddrinfo(loaded.host, loaded.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        found = f"{loaded.host}:{loaded.port} cannot be used ({error.strerror})"
        return Finding("port", "error", found, "choose another with `greenroom serve --port`.")
    return Finding("port", "ok", f"{loaded.host}:{loaded.port} is free")


def _profiles(data: Path) -> Iterator[Finding]:
    from greenroom.gateway.profile_files import read_files

    read = read_files(data)
    for wrong in read.wrong:
        whose = f" ({wrong.name})" if wrong.name else ""
        yield Finding(
            "profile",
            "error",
            f"{data / wrong.file}{whose}: {wrong.problem}",
            "mend the file; until then it is not used.",
        )
    if read.wanted and not read.wrong:
        yield Finding("profiles", "ok", f"{len(read.wanted)} from files: {', '.join(read.wanted)}"[:200])


def _disk(data: Path) -> Finding:
    place = next(path for path in (data, *data.parents) if path.exists())
    free = shutil.disk_usage(place).free
    found = f"{format_size(free)} free at {place}"
    if free < _EMPTY_BYTES:
        return Finding("disk", "error", found, "free some space: the hub stops taking messages when the disk is full.")
    if free < _LOW_BYTES:
        return Finding("disk", "note", found, "free some space soon.")
    return Finding("disk", "ok", found)


def _descriptors() -> Finding:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= limit < _DESCRIPTORS:
        return Finding("open files", "note", f"at most {limit}", f"for many agents raise it: ulimit -n {_DESCRIPTORS}")
    return Finding("open files", "ok", f"at most {limit}")


def _sandbox(data: Path) -> Finding:
    from greenroom.cli.doctor_sandbox import look_at_sandbox

    seen = look_at_sandbox(data, [path for name in AGENTS if (path := shutil.which(name))])
    return Finding("sandbox", "note" if seen.remedy else "ok", seen.found, seen.remedy)


def _agent(name: str) -> Finding:
    import subprocess

    path = shutil.which(name)
    if path is None:
        return Finding(name, "note", "not installed", "install it if you want to work with it.")
    try:
        told = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(
            name, "note", f"{path} does not tell its version ({type(error).__name__})", "see whether it starts."
        )
    first = next(iter((told.stdout or told.stderr).strip().splitlines()), "no answer")
    if told.returncode != 0:
        return Finding(name, "note", f"{path} fails: {first[:100]}", "see whether it starts.")
    return Finding(name, "ok", f"{first[:100]} ({path})")
