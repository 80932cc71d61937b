"""`greenroom doctor`: checks that everything Greenroom needs is there, and says how to fix what is not."""

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
from greenroom.cli.client import HubClient, HubUnreachable, add_data_option, add_json_option, get_own_url
from greenroom.cli.terminal import escape_line, format_size, show_json
from greenroom.log.data_directory import OPERATOR_TOKEN

_LEAST_SQLITE = (3, 51, 3)
_BAD_SQLITE = (3, 52, 0)
_VERSION_S = 10
_LOW_DISK_BYTES = 1 << 30
_FULL_DISK_BYTES = 100 << 20
_LEAST_DESCRIPTORS = 4096


class DoctorFinding(NamedTuple):
    """The result of one check. `remedy` says what to do when it is not ok."""

    name: str
    level: Literal["ok", "note", "error"]
    found: str
    remedy: str = ""


UNCHECKABLE_RISKS = (
    DoctorFinding(
        "your account",
        "note",
        "an agent without a sandbox can do what you can: read your files and the operator's token, and act as you",
        'give its profile sandbox = "bwrap", or run its node under another account or on another machine.',
    ),
    DoctorFinding(
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
        help="check that everything that Greenroom needs is there",
        description=(
            "Check Python, SQLite, the data directory, the database if one is set, the hub, its port, the "
            "profile files, the disk, the sandbox and the installed agents."
        ),
        epilog="example: greenroom doctor --json",
    )
    add_data_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    findings = list(run_checks(settings.resolve_data_dir(args.data)))
    if args.json:
        show_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            remedy = f" — {finding.remedy}" if finding.remedy else ""
            print(f"{finding.level:5}  {finding.name:15}  {escape_line(finding.found)}{escape_line(remedy)}")
    return 1 if any(finding.level == "error" for finding in findings) else 0


def run_checks(data: Path) -> Iterator[DoctorFinding]:
    """Run all checks, in the order in which their findings are shown."""
    from concurrent.futures import ThreadPoolExecutor

    from greenroom.runtimes.agents import AGENTS

    programs = [agent.program for agent in AGENTS if agent.program]
    with ThreadPoolExecutor(len(programs)) as threads:
        agents = [threads.submit(_check_agent_cli, name) for name in programs]
        yield _check_python()
        yield _check_sqlite()
        yield from _check_directory(data)
        yield from _check_settings(data)
        yield from _check_profiles(data)
        yield _check_disk(data)
        yield _check_descriptors()
        yield _check_sandbox(data, programs)
        for agent in agents:
            yield agent.result()
    yield from UNCHECKABLE_RISKS


def _check_python() -> DoctorFinding:
    return DoctorFinding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _check_sqlite() -> DoctorFinding:
    import apsw

    text = apsw.sqlite_lib_version()
    version = tuple(int(part) for part in text.split("."))
    if version >= _LEAST_SQLITE and version != _BAD_SQLITE:
        return DoctorFinding("sqlite", "ok", text)
    return DoctorFinding("sqlite", "error", text, "this SQLite can damage its WAL: install apsw 3.54 or newer.")


def _check_directory(data: Path) -> Iterator[DoctorFinding]:
    name = "data directory"
    if data.is_symlink():
        yield DoctorFinding(name, "error", f"{data} is a link", "name the directory itself with --data.")
    elif not data.exists():
        yield DoctorFinding(name, "note", f"{data} is not there yet", "the first `greenroom serve` makes it.")
    elif not data.is_dir() or data.stat().st_uid != os.getuid():
        yield DoctorFinding(name, "error", f"{data} is not a directory of yours", "choose another with --data.")
    elif stat.S_IMODE(data.stat().st_mode) & 0o077:
        mode = f"{stat.S_IMODE(data.stat().st_mode):04o}"
        yield DoctorFinding(name, "error", f"{data} is open to other users ({mode})", f"close it: chmod 700 {data}")
    else:
        yield DoctorFinding(name, "ok", str(data))
    token = data / OPERATOR_TOKEN
    with contextlib.suppress(OSError):
        if token.exists() and stat.S_IMODE(token.stat().st_mode) & 0o077:
            yield DoctorFinding(
                "operator token", "error", f"{token} is open to other users", f"close it: chmod 600 {token}"
            )


def _check_settings(data: Path) -> Iterator[DoctorFinding]:
    try:
        loaded = settings.load_settings(data)
    except settings.BadSettings as error:
        yield DoctorFinding("settings", "error", str(error), "see docs/users/settings.md.")
        return
    if loaded.database is not None:
        yield _check_database(loaded.database)
    yield from _check_hub(data, loaded)


def _check_database(url: str) -> DoctorFinding:
    from greenroom.cli.doctor_database import check_database

    check = check_database(url)
    return DoctorFinding("database", "error" if check.remedy else "ok", check.found, check.remedy)


def _check_hub(data: Path, loaded: settings.Settings) -> Iterator[DoctorFinding]:
    try:
        url = get_own_url(data)
    except HubUnreachable as error:
        yield DoctorFinding("hub", "error", str(error), "stop the hub, remove that file, and start it again.")
        return
    if url is not None and HubClient(url, "").is_reachable():
        yield DoctorFinding("hub", "ok", f"running at {url}")
        if loaded.local_node:
            yield from _check_node(data)
        return
    found = f"it does not answer at {url}" if url else "not running"
    yield DoctorFinding("hub", "note", found, "start it with `greenroom serve`.")
    yield _check_port(loaded)


def _check_node(data: Path) -> Iterator[DoctorFinding]:
    from greenroom.services.local_node import FOLDER, LOG, is_running, read_last_line

    if is_running(data / FOLDER):
        yield DoctorFinding("node", "ok", "running")
    elif (data / FOLDER).exists():  # else the hub has none on this machine
        log = data / FOLDER / LOG
        yield DoctorFinding(
            "node", "error", f"not running, so that no agent starts here: {read_last_line(log)}", f"see {log}."
        )


def _check_port(loaded: settings.Settings) -> DoctorFinding:
    import socket

    try:
        family, kind, _, _, address = socket.getaddrinfo(loaded.host, loaded.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        found = f"{loaded.host}:{loaded.port} cannot be used ({error.strerror})"
        return DoctorFinding("port", "error", found, "choose another with `greenroom serve --port`.")
    return DoctorFinding("port", "ok", f"{loaded.host}:{loaded.port} is free")


def _check_profiles(data: Path) -> Iterator[DoctorFinding]:
    from greenroom.services.profile_files import read_profile_files

    read = read_profile_files(data)
    for wrong in read.wrong:
        whose = f" ({wrong.name})" if wrong.name else ""
        yield DoctorFinding(
            "profile",
            "error",
            f"{data / wrong.file}{whose}: {wrong.problem}",
            "mend the file; until then it is not used.",
        )
    if read.wanted and not read.wrong:
        yield DoctorFinding("profiles", "ok", f"{len(read.wanted)} from files: {', '.join(read.wanted)}"[:200])


def _check_disk(data: Path) -> DoctorFinding:
    place = next(path for path in (data, *data.parents) if path.exists())
    free = shutil.disk_usage(place).free
    found = f"{format_size(free)} free at {place}"
    if free < _FULL_DISK_BYTES:
        return DoctorFinding(
            "disk", "error", found, "free some space: the hub stops taking messages when the disk is full."
        )
    if free < _LOW_DISK_BYTES:
        return DoctorFinding("disk", "note", found, "free some space soon.")
    return DoctorFinding("disk", "ok", found)


def _check_descriptors() -> DoctorFinding:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= limit < _LEAST_DESCRIPTORS:
        return DoctorFinding(
            "open files", "note", f"at most {limit}", f"for many agents raise it: ulimit -n {_LEAST_DESCRIPTORS}"
        )
    return DoctorFinding("open files", "ok", f"at most {limit}")


def _check_sandbox(data: Path, programs: list[str]) -> DoctorFinding:
    from greenroom.cli.doctor_sandbox import check_sandbox

    check = check_sandbox(data, [path for name in programs if (path := shutil.which(name))])
    return DoctorFinding("sandbox", "note" if check.remedy else "ok", check.found, check.remedy)


def _check_agent_cli(name: str) -> DoctorFinding:
    import subprocess

    path = shutil.which(name)
    if path is None:
        return DoctorFinding(name, "note", "not installed", "install it if you want to work with it.")
    try:
        completed = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return DoctorFinding(
            name, "note", f"{path} does not tell its version ({type(error).__name__})", "see whether it starts."
        )
    first = next(iter((completed.stdout or completed.stderr).strip().splitlines()), "no answer")
    if completed.returncode != 0:
        return DoctorFinding(name, "note", f"{path} fails: {first[:100]}", "see whether it starts.")
    return DoctorFinding(name, "ok", f"{first[:100]} ({path})")
