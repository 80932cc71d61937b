"""OpenCode on its own server: it keeps the contract, and a person sits in with it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.conformance_check import check_driver
from greenroom.runtimes.conformance_trial import DriverTrial, need_turn_end
from greenroom.runtimes.contract import Heard, PermissionAsked, PermissionWithdrawn, QuestionAsked, TurnEnded, Usage
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.model_script import FAKE_SCRIPT
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_rig import hear_next, last, said
from tests.runtimes.opencode_recorder import SCRIPTS
from tests.runtimes.seat import sit_beside
from tests.runtimes.test_acp_agents import WRITES, make_desk

pytestmark = [pytest.mark.anyio, pytest.mark.clis]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, shared_hub: HubProcess, model: FakeModel) -> Desk:
    return make_desk("opencode", tmp_path / "home", shared_hub, model)


@asynccontextmanager
async def on_trial(desk: Desk, spawner: ProcessSpawner) -> AsyncIterator[DriverTrial]:
    trial = DriverTrial(load_driver("opencode"), desk.opening, TrackingSpawner(spawner), FAKE_SCRIPT)
    try:
        async with asyncio.timeout(WAIT_S):
            await trial.open()
            yield trial
    finally:
        await trial.close()


async def test_it_keeps_every_point(desk: Desk, spawner: ProcessSpawner) -> None:
    script = msgspec.structs.replace(FAKE_SCRIPT, hub_tool=WRITES)
    findings = await check_driver(load_driver("opencode"), desk.opening, spawner, script, patience_s=60)
    assert [finding for finding in findings if finding.verdict != "ok"] == []


async def test_a_person_sees_the_live_session_answers_and_speaks(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial(desk, spawner) as trial:
        await trial.run_turn("SAY before anybody came")
        seat = await sit_beside(trial.session, desk.opening(), spawner)
        try:
            assert not trial.witness.find_in_arguments("OPENCODE_SERVER_PASSWORD")
            await seat.until_shown("before anybody came")

            await trial.session.prompt("USE_TOOL bash touch allowed-there\nSAY saw it happen")
            asked = await hear_next(trial, PermissionAsked)
            await seat.until_shown("Allow once")
            await seat.type("\r")
            assert await hear_next(trial, PermissionWithdrawn) == PermissionWithdrawn(asked.permission)
            heard = await trial.finish_turn()
            assert said(heard) == "saw it happen"
            assert (desk.directory / "allowed-there").exists()
            await seat.until_shown("saw it happen")

            await seat.type("SAY spoken by a person")
            await seat.until_shown("SAY spoken by a person")
            await seat.type("\r")
            words: list[Heard] = []
            while "spoken by a person" not in said(words):
                words.append(await trial.read_next())

            heard = await trial.run_turn("SAY driven on")
            need_turn_end(heard, "done")
            assert said(heard).endswith("driven on")
        finally:
            await seat.leave()


async def test_a_question_of_the_agent_is_answered(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial(desk, spawner) as trial:
        await trial.session.prompt(SCRIPTS["question"] + "\nSAY thanks")
        asked = await hear_next(trial, QuestionAsked)
        await trial.session.decide(asked.permission, "allow", text="B")
        heard = await trial.finish_turn()
        need_turn_end(heard, "done")
        assert "B" in str(heard)


async def test_a_turn_that_is_cancelled_as_it_begins_does_not_go_on(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial(desk, spawner) as trial:
        for number in range(3):
            await trial.session.prompt(f"USE_TOOL bash touch late{number}\nSAY too late")
            await trial.session.cancel()
            assert (await trial.finish_turn())[-1] == TurnEnded(reason="cancelled")
        heard = await trial.run_turn("SAY still here")
        need_turn_end(heard, "done")
        assert said(heard).endswith("still here")
        assert not await asyncio.to_thread(lambda: list(desk.directory.glob("late*")))


async def test_a_session_that_is_not_there_is_refused(desk: Desk, spawner: ProcessSpawner) -> None:
    with pytest.raises(ValueError, match="OpenCode says"):
        await load_driver("opencode").open(desk.opening("ses_nowhere"), spawner)


async def test_what_a_helper_of_the_agent_uses_is_counted_with_its_turn(desk: Desk, spawner: ProcessSpawner) -> None:
    helped = {"description": "help", "prompt": "SAY helped", "subagent_type": "general"}
    async with on_trial(desk, spawner) as trial:
        heard = await trial.run_turn(f"USE_TOOL task {json.dumps(helped)}\nSAY done")
        need_turn_end(heard, "done")
        used = last(heard, Usage)
        assert (used.input_tokens, used.output_tokens) == (3 * TOKENS_IN, 3 * TOKENS_OUT)
