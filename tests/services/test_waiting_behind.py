"""Waiting of who is far behind and wants little of what is there."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from greenroom.rules.access.model import HUB
from greenroom.services.bus import WaitResult
from greenroom.testing.timeouts import WAIT_S
from tests.doors.sync.sync_rig import Rig, serving

pytestmark = pytest.mark.anyio
MANY = 1500


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with serving(tmp_path / "data") as rig:
        yield rig


async def _fill(rig: Rig, thread: str) -> None:
    await asyncio.gather(*(rig.post(thread, str(number)) for number in range(MANY)))


async def test_what_is_handed_to_an_agent_is_found_behind_thousands_of_others(rig: Rig) -> None:
    agent, token = await rig.agent()
    by = rig.principal(token)
    thread = await rig.thread(by=by)

    async def wait(after: int, timeout_ms: int = 0) -> WaitResult:
        async with asyncio.timeout(WAIT_S):
            return await rig.hub.bus.wait(by, thread, after, timeout_ms, agent_id=agent, for_agent=agent)

    await _fill(rig, thread)
    handed = {"handoff_target": agent}
    await rig.post(thread, "first for you", metadata=handed)
    await _fill(rig, thread)
    await rig.post(thread, "second for you", metadata=handed)
    first = await wait(0)
    assert first.messages[0].content == "first for you"
    rest = await wait(first.messages[0].seq)
    assert rest.messages[-1].content == "second for you"
    nothing = await wait(rest.messages[-1].seq)
    assert nothing.messages == []
    await _fill(rig, thread)
    waiting = asyncio.create_task(wait(rest.messages[-1].seq, timeout_ms=60_000))
    await asyncio.sleep(0)
    assert rig.hub.bus.waiters.find_waiters(thread), "it looks for what is there already"
    await rig.post(thread, "third for you", metadata=handed)
    assert [message.content for message in (await waiting).messages] == ["third for you"]


async def test_who_has_said_much_itself_goes_on_where_it_was(rig: Rig) -> None:
    agent, token = await rig.agent()
    by = rig.principal(token)
    thread = await rig.thread(by=by)
    await asyncio.gather(*(rig.post(thread, str(number), by=by) for number in range(MANY)))
    await rig.post(thread, "an answer", by=HUB)
    async with asyncio.timeout(WAIT_S):
        waited = await rig.hub.bus.wait(by, thread, None, 0, agent_id=agent)
        again = await rig.hub.bus.wait(by, thread, None, 0, agent_id=agent)
    assert [message.content for message in waited.messages] == ["an answer"]
    assert again.messages == []
