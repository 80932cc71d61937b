"""A person sits in a live session of Codex: in its own terminal program, beside the one who drives it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.attachable import Attachable
from greenroom.runtimes.conformance_trial import DriverTrial, need_turn_end
from greenroom.runtimes.contract import Heard, PermissionAsked, PermissionWithdrawn
from greenroom.testing.fake_llm import FakeModel
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_rig import hear_next, make_desk, make_opening, on_trial, said
from tests.runtimes.seat import Seat, sit_beside

pytestmark = pytest.mark.anyio
AGAIN_S = 1.0
QUESTION = "Would you like to run the following command?"
EMPTY_LINE = "\x15"
"""Of a key that was pressed once too often."""


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, model: FakeModel) -> Desk:
    options: dict[str, Any] = {"attach": True}
    return msgspec.structs.replace(make_desk("codex", tmp_path / "home", model.url), options=options)


async def press(seat: Seat, key: str, trial: DriverTrial) -> PermissionWithdrawn:
    """Answer what the terminal asks. A key that comes too soon after the question is not taken: it is pressed again."""
    gone = asyncio.create_task(hear_next(trial, PermissionWithdrawn))
    while not gone.done():
        if QUESTION in seat.shown:
            await seat.type(key)
        await asyncio.wait([gone], timeout=AGAIN_S)
    await seat.until_gone(QUESTION)
    return gone.result()


async def test_a_person_sees_the_live_session_answers_and_speaks(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        await trial.run_turn("SAY before anybody came")
        assert isinstance(trial.session, Attachable)
        seat = await sit_beside(trial.session, make_opening(desk), spawner)
        try:
            await seat.until_shown("before anybody came")

            await trial.session.prompt("USE_TOOL bash touch allowed-there\nSAY saw it happen")
            asked = await hear_next(trial, PermissionAsked)
            await seat.until_shown(QUESTION)
            assert await press(seat, "y", trial) == PermissionWithdrawn(asked.permission)
            heard = await trial.finish_turn()
            assert said(heard) == "saw it happen"
            assert (desk.directory / "allowed-there").exists()
            await seat.until_shown("saw it happen")

            await seat.type(f"{EMPTY_LINE}SAY spoken by a person")
            await seat.until_shown("› SAY spoken by a person")
            await seat.type("\r")
            words: list[Heard] = []
            while "spoken by a person" not in said(words):
                words.append(await trial.read_next())

            heard = await trial.run_turn("SAY driven on")
            need_turn_end(heard, "done")
            assert said(heard).endswith("driven on")
        finally:
            await seat.leave()


async def test_without_the_option_nobody_can_sit_in(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", msgspec.structs.replace(desk, options={}), spawner) as trial:
        await trial.open()
        assert isinstance(trial.session, Attachable)
        assert trial.session.attach_command() is None
        assert not await asyncio.to_thread(lambda: list((desk.home / "scratch").glob("*.sock")))
