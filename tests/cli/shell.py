"""The command line as a person uses it: a real process, what it prints, and its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from greenroom.cli.main import build_parser
from greenroom.errors import Refused
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(data: Path, **more: str) -> dict[str, str]:
    """What a command knows of its surroundings; nothing of this machine's own settings."""
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**inherited, "HOME": str(data.parent), "GREENROOM_DATA": str(data), **more}


def greenroom(data: Path, *args: str, stdin: str | None = None, **env: str) -> Ran:
    """Run `greenroom` on a data directory."""
    ended = subprocess.run(
        [sys.executable, "-m", "greenroom", *args],
        env=environment(data, **env),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=WAIT_S,
        check=False,
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def done(data: Path, *args: str, stdin: str | None = None, **env: str) -> Ran:
    """Run `greenroom` and expect that it succeeds."""
    ran = greenroom(data, *args, stdin=stdin, **env)
    assert ran.code == 0, ran
    return ran


def refuse(data: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str]) -> str:
    """The code with which a command is refused: the verb is parsed and run as `main` does it."""
    monkeypatch.setenv("GREENROOM_DATA", str(data))
    args = build_parser(None).parse_args(argv)
    with pytest.raises(Refused) as no:
        args.run(args)
    return no.value.code


def agent(hub: HubProcess, name: str) -> Path:
    """The file with the token of a fresh, registered agent."""
    file = hub.data.parent / f"{name}.token"
    done(hub.data, "token", "create", "--name", name, "--out", str(file))
    done(hub.data, "agent", "register", "--called", name, "--token-file", str(file))
    return file
