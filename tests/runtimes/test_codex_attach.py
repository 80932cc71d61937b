"""A person sits in a live session of Codex: in its own terminal program, beside the one who drives it."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyte
import pytest

from greenroom.node.processes import ChildTerminal, Spawner
from greenroom.runtimes.contract import Attachable, Heard, PermissionAsked, PermissionGone
from greenroom.runtimes.trial import Trial, need_end
from greenroom.testing.fake_llm import FakeModel
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_rig import hear_next, make_desk, make_opening, on_trial, said

pytestmark = pytest.mark.anyio
ROWS, COLUMNS = 36, 110
AGAIN_S = 1.0
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c"}
"""What a terminal says when it is asked where its cursor is, and what it can."""


class Seat:
    """The terminal of somebody who sits in, and looks at it all the time."""

    def __init__(self, terminal: ChildTerminal) -> None:
        self._terminal = terminal
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._changed = asyncio.Event()
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        stream = pyte.ByteStream(self._screen)
        while data := await self._terminal.read():
            for question, answer in _ANSWERS.items():
                if question in data:
                    await self._terminal.write(answer)
            stream.feed(data)
            self._changed.set()

    @property
    def shown(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    async def until_shown(self, text: str) -> None:
        while text not in self.shown:
            self._changed.clear()
            await self._changed.wait()

    async def type(self, keys: str) -> None:
        await self._terminal.write(keys.encode())

    async def leave(self) -> None:
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        await self._terminal.end()


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, model: FakeModel) -> Desk:
    options: dict[str, Any] = {"attach": True}
    return msgspec.structs.replace(make_desk("codex", tmp_path / "home", model.url), options=options)


async def press(seat: Seat, key: str, trial: Trial) -> PermissionGone:
    """Answer what the terminal asks. A key that comes too soon after the question is not taken: it is pressed again."""
    while True:
        await seat.type(key)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AGAIN_S):
                return await hear_next(trial, PermissionGone)


async def test_a_person_sees_the_live_session_answers_and_speaks(desk: Desk, spawner: Spawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        await trial.turn("SAY before anybody came")
        assert isinstance(trial.session, Attachable)
        command = trial.session.attach_command()
        assert command is not None
        terminal = await spawner.spawn_terminal(command, desk.directory, make_opening(desk).env, ROWS, COLUMNS)
        seat = Seat(terminal)
        try:
            await seat.until_shown("before anybody came")

            await trial.session.prompt("USE_TOOL bash touch allowed-there\nSAY saw it happen")
            asked = await hear_next(trial, PermissionAsked)
            await seat.until_shown("Would you like to run the following command?")
            assert await press(seat, "y", trial) == PermissionGone(asked.permission)
            heard = await trial.to_the_end()
            assert said(heard) == "saw it happen"
            assert (desk.directory / "allowed-there").exists()
            await seat.until_shown("saw it happen")

            await seat.type("SAY spoken by a person")
            await seat.until_shown("› SAY spoken by a person")
            await seat.type("\r")
            words: list[Heard] = []
            while "spoken by a person" not in said(words):
                words.append(await trial.hear())

            heard = await trial.turn("SAY driven on")
            need_end(heard, "done")
            assert said(heard).endswith("driven on")
        finally:
            await seat.leave()


async def test_without_the_option_nobody_can_sit_in(desk: Desk, spawner: Spawner) -> None:
    async with on_trial("codex", msgspec.structs.replace(desk, options={}), spawner) as trial:
        await trial.open()
        assert isinstance(trial.session, Attachable)
        assert trial.session.attach_command() is None
        assert not await asyncio.to_thread(lambda: list((desk.home / "scratch").glob("*.sock")))
