"""Claude Code and Codex on trial: where they are installed, and how each is put on the scripted model."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from greenroom.node.processes import Spawner
from greenroom.runtimes.check import FAKED
from greenroom.runtimes.contract import Died, Heard, Opening, Said, TurnEnded
from greenroom.runtimes.drivers import DRIVERS
from greenroom.runtimes.trial import Trial
from greenroom.runtimes.witness import Witness
from greenroom.testing.clis import CLAUDE, CODEX
from greenroom.testing.hub_process import HubProcess
from tests.runtimes.acp_rig import CLIS, Desk, make_token

Wanted = TypeVar("Wanted", bound=Heard)
LIMIT_S = 60
_CODEX_CONFIG = """\
model_provider = "fake"

[model_providers.fake]
name = "Fake"
base_url = "{model_url}/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"
"""


def claude(home: Path, model_url: str, hub: HubProcess | None = None) -> Desk:
    env = {"ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "sk-ant-fake"}
    return _desk("claude", home, hub, [str(CLIS / CLAUDE)], env)


def codex(home: Path, model_url: str, hub: HubProcess | None = None) -> Desk:
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/config.toml").write_text(_CODEX_CONFIG.format(model_url=model_url))
    env = {"FAKE_API_KEY": "fake", "CODEX_HOME": str(home / ".codex")}
    return _desk("codex", home, hub, [str(CLIS / CODEX)], env)


NATIVE: dict[str, Callable[[Path, str, HubProcess | None], Desk]] = {"claude": claude, "codex": codex}


def make_desk(name: str, home: Path, model_url: str, hub: HubProcess | None = None) -> Desk:
    """A desk for a test, if the CLI is installed; outside CI the test is skipped otherwise."""
    if not (CLIS / "ready").exists():
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed: run `make clis` (Linux on x86-64)")
    return NATIVE[name](home, model_url, hub)


def make_opening(desk: Desk, resume: str | None = None) -> Opening:
    """As the desk makes it; one without a hub has nobody to show a credential to."""
    opening = desk.opening(resume)
    return opening if desk.hub_url else msgspec.structs.replace(opening, hub_url=None, token_file=None)


def _desk(name: str, home: Path, hub: HubProcess | None, command: list[str], env: dict[str, str]) -> Desk:
    model = "fake-model" if name == "codex" else None
    token, url = (make_token(hub, name), hub.url) if hub else ("", "")
    return Desk(home=home, hub_url=url, token=token, command=command, env=env, model=model)


@asynccontextmanager
async def on_trial(name: str, desk: Desk, spawner: Spawner) -> AsyncIterator[Trial]:
    """A conversation that takes no longer than a test may, and of which nothing is left."""
    trial = Trial(DRIVERS[name], partial(make_opening, desk), Witness(spawner), FAKED)
    try:
        async with asyncio.timeout(LIMIT_S):
            yield trial
    finally:
        await trial.close()


async def hear_next(trial: Trial, kind: type[Wanted]) -> Wanted:
    """Wait for the next of a kind within the turn."""
    while not isinstance(heard := await trial.hear(), kind):
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
