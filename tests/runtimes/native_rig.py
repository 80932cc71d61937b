"""Claude Code and Codex on trial: where they are installed, and how each is put on the scripted model."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import Died, Heard, Said, SessionOptions, TurnEnded
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.model_script import FAKE_SCRIPT
from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.agent_clis import CLAUDE, CODEX
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.acp_rig import CLIS, Desk, make_token

Wanted = TypeVar("Wanted", bound=Heard)
PROGRAMS = {"claude": CLIS / CLAUDE, "codex": CLIS / CODEX}


def make_desk(name: str, home: Path, model_url: str, hub: HubProcess | None = None) -> Desk:
    """A desk for a test, if the CLI is installed; outside CI the test is skipped otherwise."""
    if not (CLIS / "ready").exists():
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed: run `make clis` (Linux on x86-64)")
    wiring = write_model_wiring(name, home, model_url)
    assert wiring is not None
    token, url = (make_token(hub, name), hub.url) if hub else ("", "")
    command = [str(PROGRAMS[name])]
    return Desk(home=home, hub_url=url, token=token, command=command, env=wiring.env, model=wiring.model)


def make_opening(desk: Desk, resume: str | None = None) -> SessionOptions:
    """As the desk makes it; one without a hub has nobody to show a credential to."""
    opening = desk.opening(resume)
    return opening if desk.hub_url else msgspec.structs.replace(opening, hub_url=None, token_file=None)


@asynccontextmanager
async def on_trial(name: str, desk: Desk, spawner: ProcessSpawner) -> AsyncIterator[DriverTrial]:
    """A conversation that takes no longer than a test may, and of which nothing is left."""
    trial = DriverTrial(load_driver(name), partial(make_opening, desk), TrackingSpawner(spawner), FAKE_SCRIPT)
    try:
        async with asyncio.timeout(WAIT_S):
            yield trial
    finally:
        await trial.close()


async def hear_next(trial: DriverTrial, kind: type[Wanted]) -> Wanted:
    """Wait for the next of a kind within the turn."""
    while not isinstance(heard := await trial.read_next(), kind):
        assert not isinstance(heard, TurnEnded | Died), heard
    return heard


def said(heard: list[Heard]) -> str:
    """All that was said, in one."""
    return "".join(one.text for one in heard if isinstance(one, Said))


def only(heard: list[Heard], kind: type[Wanted]) -> Wanted:
    (found,) = [one for one in heard if isinstance(one, kind)]
    return found


def last(heard: list[Heard], kind: type[Wanted]) -> Wanted:
    return [one for one in heard if isinstance(one, kind)][-1]
