"""A stage for real agent CLIs: the hub, the scripted model, and a credential for each."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from greenroom.testing import agent_clis
from greenroom.testing.agent_clis import CliProcess
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT

INSTALLED = ROOT / ".clis"
DONE = "done"
"""What every script says in the end."""
OPENERS: dict[str, Callable[[Path, Path, str, str, str], CliProcess]] = {
    "claude": agent_clis.build_claude,
    "codex": agent_clis.build_codex,
}


class Stage:
    """Opens CLIs, each with a home and a credential of its own, and can tell how far everybody got."""

    def __init__(self, hub_url: str, model: FakeModel, api: httpx.Client, homes: Path) -> None:
        self.model = model
        self.api = api
        self._hub_url = hub_url
        self._homes = homes
        self._open: dict[str, CliProcess] = {}
        self._deadline = time.monotonic() + WAIT_S

    def token(self, *, enrols: bool = False) -> str:
        """A new credential: for one agent, or one that enrols agents."""
        wanted: dict[str, object] = {"kind": "agent", "name": "a CLI"}
        if enrols:
            wanted["rights"] = ["read", "all", "chat", "register"]
        return str(self.api.post("/api/credentials", json=wanted).raise_for_status().json()["token"])

    def open(self, name: str, token: str) -> CliProcess:
        """A CLI with a home of its own, not yet at work."""
        cli = OPENERS[name](INSTALLED, self._homes / name, self.model.url, self._hub_url, token)
        self._open[name] = cli
        return cli

    def start(self, name: str, script: str, token: str) -> CliProcess:
        """Give a CLI a script to play."""
        return self.open(name, token).start(script)

    def left_s(self) -> float:
        """How long this may still take; fails when the time is over, or a CLI has ended before its script."""
        for name, cli in self._open.items():
            assert cli.get_code() in (None, 0), f"{name} failed"
            assert cli.get_answer() in (None, DONE), f"{name} gave up"
        left = self._deadline - time.monotonic()
        assert left > 0, "it takes too long"
        return left

    def report(self) -> str:
        """The last of what each CLI and the model said."""
        heard = {**{name: cli.tail() for name, cli in self._open.items()}, "model": self.model.tail()}
        return "\n".join(f"{name}:\n{text}" for name, text in heard.items())

    def stop(self) -> None:
        for cli in self._open.values():
            cli.stop()


@pytest.fixture
def stage(shared_hub: HubProcess, tmp_path: Path) -> Iterator[Stage]:
    """The stage, if the CLIs are installed."""
    if not (INSTALLED / "ready").exists():
        pytest.skip("the real CLIs are not installed: run `make clis` (Linux on x86-64)")
    operator = {"Authorization": f"Bearer {shared_hub.token}"}
    with FakeModel() as model, httpx.Client(base_url=shared_hub.url, headers=operator, timeout=WAIT_S) as api:
        stage = Stage(shared_hub.url, model, api, tmp_path)
        try:
            yield stage
        finally:
            stage.stop()
            print(stage.report())  # pytest shows it when the test has failed
