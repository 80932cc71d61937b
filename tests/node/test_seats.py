"""People come to an agent's terminal and go, faster than programs start: what runs is what is looked at."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from greenroom.ids import new_id
from greenroom.node.agent_terminal import AgentTerminal
from greenroom.node.processes import find_tree
from greenroom.node.terminals import TerminalPacer
from greenroom.runtimes.attachable import AttachCommand
from greenroom.runtimes.contract import Decision, Heard, SessionOptions
from greenroom.runtimes.process_trees import end_tree
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio


class Talk:
    """A session beside which a person can sit, at a program that says so and waits."""

    def attach_command(self) -> AttachCommand | None:
        return AttachCommand(["/bin/sh", "-c", "echo $GREETING; exec sleep 600"], {"GREETING": "come in"})

    async def listen(self) -> AsyncIterator[Heard]:
        for one in ():
            yield one

    async def prompt(self, text: str) -> None: ...

    async def steer(self, text: str) -> bool:
        return False

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: dict[str, Any] | None = None
    ) -> None: ...

    async def cancel(self) -> None: ...

    async def close(self) -> None: ...


class Hall:
    """A seat, what was shown there, and which programs run beside it."""

    def __init__(self, folder: Path) -> None:
        self.mark = new_id("tree")
        self.shown: list[tuple[str, Any]] = []
        self.seat = AgentTerminal("agt_1", self.mark, self._show, TerminalPacer())
        env = {"PATH": "/usr/bin:/bin"}
        self.opening = SessionOptions(command=[], directory=folder, scratch=folder, env=env)

    def _show(self, agent_id: str, kind: str, data: Any) -> bool:
        self.shown.append((kind, data))
        return True

    def running(self) -> int:
        return len([pid for pid in find_tree(self.mark) if psutil.pid_exists(pid)])

    async def until(self, count: int) -> None:
        async with asyncio.timeout(WAIT_S):
            while self.running() != count:  # noqa: ASYNC110 processes tell nobody
                await asyncio.sleep(0.02)

    async def until_shown(self, kind: str, text: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while not any(one == kind and text in str(data) for one, data in self.shown):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    hall = Hall(tmp_path)
    yield hall
    await hall.seat.watch(on=False)
    await hall.seat.clear_session()
    end_tree(hall.mark)


async def test_however_fast_people_come_and_go_one_program_runs_or_none(hall: Hall) -> None:
    await hall.seat.set_session(Talk(), hall.opening, None)
    await asyncio.gather(*(hall.seat.watch(on=number % 2 == 0) for number in range(7)))
    await hall.until(1)
    await asyncio.gather(*(hall.seat.watch(on=number % 2 == 0) for number in range(8)))
    await hall.until(0)


async def test_who_looks_before_the_agent_is_up_sees_it_when_it_is(hall: Hall) -> None:
    await hall.seat.watch(on=True)
    assert hall.shown == [("none", None)]
    await hall.seat.set_session(Talk(), hall.opening, None)
    await hall.until_shown("screen", "come in")
    assert hall.running() == 1


async def test_the_program_goes_with_the_agent_also_while_it_is_being_started(hall: Hall) -> None:
    await hall.seat.set_session(Talk(), hall.opening, None)
    await asyncio.gather(hall.seat.watch(on=True), hall.seat.clear_session())
    await hall.until(0)


async def test_a_program_that_was_left_is_started_again_for_who_comes_next(hall: Hall) -> None:
    await hall.seat.set_session(Talk(), hall.opening, None)
    await hall.seat.watch(on=True)
    await hall.until(1)
    for pid in find_tree(hall.mark):
        psutil.Process(pid).kill()
    await hall.until_shown("ended", "")
    await hall.seat.watch(on=True)
    await hall.until(1)
