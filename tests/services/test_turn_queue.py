"""Turns in a crowded thread."""

import asyncio

import pytest

from greenroom.services.turn_queue import TurnQueue
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio


async def test_a_few_go_at_once_and_the_next_when_one_comes_back() -> None:
    turns = TurnQueue()
    assert await turns.wait_for_turn("t", "ann") is False
    assert await turns.wait_for_turn("t", "bob") is False
    assert await turns.wait_for_turn("elsewhere", "cy") is False
    went: asyncio.Queue[str] = asyncio.Queue()

    async def go(name: str) -> None:
        assert await turns.wait_for_turn("t", name) is True
        went.put_nowait(name)

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        for name in ("cy", "dan"):
            tasks.create_task(go(name))
        await asyncio.sleep(0)
        turns.end_turn("t", "somebody else")
        await asyncio.sleep(0)
        assert went.empty()
        turns.end_turn("t", "ann")
        assert await went.get() == "cy"
        turns.end_turn("t", "cy")
        assert await went.get() == "dan"


async def test_all_are_let_go_when_nobody_comes_back() -> None:
    turns = TurnQueue()
    names = [f"agent {number}" for number in range(50)]
    async with asyncio.timeout(WAIT_S):
        waited = await asyncio.gather(*(turns.wait_for_turn("t", name) for name in names))
    assert waited.count(False) == 2


async def test_who_gives_up_waiting_holds_nobody_up() -> None:
    turns = TurnQueue()
    for name in ("ann", "bob"):
        await turns.wait_for_turn("t", name)
    gone = asyncio.create_task(turns.wait_for_turn("t", "cy"))
    last = asyncio.create_task(turns.wait_for_turn("t", "dan"))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    turns.end_turn("t", "ann")
    async with asyncio.timeout(WAIT_S):
        assert await last is True
