"""Real ACP agents on the scripted model keep the contract."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.conformance_check import check_driver
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import Said
from greenroom.runtimes.driver_list import DRIVER_INFOS, load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.runtimes.acp_rig import CLIS, COMMANDS, MORE, Desk, agent

pytestmark = pytest.mark.anyio
EVERYDAY = ("copilot",)
WRITES = 'USE_TOOL bus_connect {"thread_name": "stage"}\nSAY TEXT'
"""A tool of the hub that changes something, for which runtimes ask unless they are told not to."""


def agents() -> list[object]:
    return [pytest.param(name, marks=[] if name in EVERYDAY else pytest.mark.clis, id=name) for name in COMMANDS]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def make_desk(name: str, home: Path, hub: HubProcess, model: FakeModel) -> Desk:
    ready = (CLIS if name in EVERYDAY else MORE) / "ready"
    if not ready.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed: run `make {'clis' if name in EVERYDAY else 'test-clis'}`")
    return agent(name, home, hub, model.url)


@pytest.mark.anywhere
@pytest.mark.parametrize("name", agents())
async def test_a_real_agent_keeps_the_contract(
    name: str, tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = make_desk(name, tmp_path / "home", shared_hub, model)
    script = msgspec.structs.replace(choose_script(name), hub_tool=WRITES)
    findings = await check_driver(load_driver(name), desk.opening, spawner, script, patience_s=90)
    assert not [finding for finding in findings if finding.verdict == "failed"]
    manifest = DRIVER_INFOS[name].manifest
    is_steered = manifest is None or manifest.second_prompt == "queued"
    lacking = set() if is_steered else {"hears what is said while it works"}
    assert {finding.point for finding in findings if finding.verdict == "lacking"} == lacking


@pytest.mark.parametrize("name", agents())
async def test_a_real_agent_gets_its_instructions(
    name: str, tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = make_desk(name, tmp_path / "home", shared_hub, model)
    desk = msgspec.structs.replace(desk, instructions="Wear a green hat at work.")
    trial = DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), choose_script(name))
    await trial.open()
    try:
        heard = await trial.run_turn("SYSTEM Wear a [a-z]+ hat")
        heard += await trial.run_turn("RECALL")
    finally:
        await trial.close()
    said = "".join(one.text for one in heard if isinstance(one, Said))
    assert "Wear a green hat" in said
