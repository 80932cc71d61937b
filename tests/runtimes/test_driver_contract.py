"""Drivers keep the contract, and the check that says so notices when one does not."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.acp_manifest import AcpManifest, ValueInjection
from greenroom.runtimes.agents.rehearsal import MANIFEST, SCRIPT
from greenroom.runtimes.conformance_check import PointResult, check_driver
from greenroom.runtimes.conformance_points import POINTS
from greenroom.runtimes.contract import Driver, SessionOptions
from greenroom.runtimes.contract import Spawner as AnySpawner
from greenroom.runtimes.driver_list import DRIVER_INFOS, load_driver, load_drivers
from greenroom.runtimes.drivers.acp.driver import AcpDriver
from greenroom.runtimes.drivers.acp.session import AcpSession
from greenroom.runtimes.model_script import ModelScript
from greenroom.runtimes.prompt_text import DATA
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.acp_rig import Desk, rehearsal

pytestmark = pytest.mark.anyio


@pytest.fixture
def desk(tmp_path: Path, shared_hub: HubProcess) -> Desk:
    return rehearsal(tmp_path / "home", shared_hub)


def test_the_agents_are_known_without_a_driver_being_loaded() -> None:
    looks = "import sys, greenroom.runtimes.driver_list; print([name for name in sys.modules if 'drivers.' in name])"
    ran = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert ran.stdout.strip() == "[]"


QUICK = msgspec.structs.replace(SCRIPT, slow="SAY beginning\nSLEEP 2")


async def judge(
    driver: Driver, desk: Desk, spawner: ProcessSpawner, script: ModelScript = QUICK
) -> dict[str, PointResult]:
    findings = await check_driver(driver, desk.opening, spawner, script, patience_s=8)
    assert [finding.point for finding in findings] == list(POINTS)
    return {finding.point: finding for finding in findings}


async def test_the_scripted_agent_keeps_every_point(desk: Desk, spawner: ProcessSpawner) -> None:
    found = await judge(load_driver("rehearsal"), desk, spawner)
    assert not [finding for finding in found.values() if finding.verdict != "ok"]


def lying(**traps: object) -> AcpDriver:
    """The scripted agent with a manifest that is not true of it."""
    return AcpDriver(msgspec.structs.replace(MANIFEST, **traps), DATA)


class Showing(AcpDriver):
    """A driver that puts the credential where everybody can read it."""

    async def open(self, opening: SessionOptions, spawner: AnySpawner) -> AcpSession:
        assert opening.token_file is not None
        command = [*MANIFEST.command, opening.token_file.read_text()]
        return await super().open(msgspec.structs.replace(opening, command=command), spawner)


class Leaving(AcpDriver):
    """A driver that forgets to give the agent the hub."""

    async def open(self, opening: SessionOptions, spawner: AnySpawner) -> AcpSession:
        return await super().open(msgspec.structs.replace(opening, hub_url=None), spawner)


OPEN_TO_ALL = """
import http.server, threading
from greenroom.rehearsal.agent import Agent
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
Agent().serve()
"""


@pytest.mark.parametrize(
    ("make", "point", "verdict"),
    [
        (lambda: lying(resume="none"), "takes the session up in a new process", "lacking"),
        (lambda: lying(second_prompt="cancels_first"), "hears what is said while it works", "lacking"),
        (lambda: lying(unnamed_said="notice"), "answers a prompt", "failed"),
        (lambda: lying(command=["no-such-program"]), "opens a session", "failed"),
        (lambda: Showing(MANIFEST, DATA), "keeps its credential to itself", "failed"),
        (lambda: Leaving(MANIFEST, DATA), "calls the hub's tools unasked", "failed"),
        (lambda: lying(command=[sys.executable, "-c", OPEN_TO_ALL]), "lets nobody else in", "failed"),
    ],
    ids=["cannot resume", "cannot steer", "mute", "not installed", "shows its credential", "has no hub", "open to all"],
)
async def test_what_is_missing_or_wrong_is_found(
    make: Callable[[], AcpDriver], point: str, verdict: str, desk: Desk, spawner: ProcessSpawner
) -> None:
    found = await judge(make(), desk, spawner)
    assert found[point].verdict == verdict, found[point]


async def test_a_wrong_account_is_found(desk: Desk, spawner: ProcessSpawner) -> None:
    script = msgspec.structs.replace(QUICK, tokens=(10, 5))
    found = (await judge(load_driver("rehearsal"), desk, spawner, script))["tells what the turn has used"]
    assert found.verdict == "failed"
    assert "it tells 1000 where the model has counted 10" in found.detail


def test_every_driver_bears_its_own_name() -> None:
    drivers = load_drivers()
    assert {name: driver.name for name, driver in drivers.items()} == {name: name for name in DRIVER_INFOS}


async def test_a_runtime_that_is_not_installed_is_not_found(tmp_path: Path) -> None:
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    env = {"PATH": str(tmp_path)}
    assert await AcpDriver(AcpManifest(command=["nowhere"]), DATA).find(env) is None
    assert await AcpDriver(AcpManifest(command=["broken"], always=ValueInjection()), DATA).find(env) is None
