"""The one writer: many tasks use it, some of them give up, and some of them meet a disk that is full."""

import asyncio
from pathlib import Path

import pytest

from greenroom.app import open_hub
from greenroom.errors import Refused, Unavailable
from greenroom.ids import new_secret
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import DeleteThread
from greenroom.rules.threads.queries import find_messages
from tests.faults.conftest import SmallDisk
from tests.faults.rig import QUIET, assert_in_order, open_thread, post

pytestmark = pytest.mark.anyio


async def test_commands_cursors_and_forgetting_take_turns(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        thread_id = await open_thread(hub)

        async def talk() -> None:
            for number in range(100):
                await post(hub, thread_id, f"{number}")

        async def keep_house() -> None:
            for number in range(100):
                await hub.store.forget_commands(0)
                await hub.store.move_cursor("house", number)

        await asyncio.gather(talk(), talk(), keep_house(), keep_house())
        assert len(find_messages(hub.rows, thread_id, limit=1000)) == 200
    assert_in_order(tmp_path / "data")


async def test_a_task_that_is_cancelled_while_it_writes_harms_nobody(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        thread_id = await open_thread(hub)
        for number in range(50):
            writing = asyncio.create_task(hub.store.move_cursor("house", number))
            posting = asyncio.create_task(post(hub, thread_id, f"{number}"))
            await asyncio.sleep(0)
            writing.cancel()
            await asyncio.wait([writing, posting])
            assert posting.exception() is None
        assert len(find_messages(hub.rows, thread_id, limit=1000)) == 50
    assert_in_order(tmp_path / "data")


async def test_a_caller_that_goes_away_does_not_take_its_command_back(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        thread_id = await open_thread(hub)
        posting = asyncio.create_task(post(hub, thread_id, "said", key="once"))
        await asyncio.sleep(0)
        posting.cancel()
        await asyncio.wait([posting])
        again = await post(hub, thread_id, "said", key="once")
        assert [m.id for m in find_messages(hub.rows, thread_id)] == [again.event.message_id]


async def test_the_same_large_message_posted_many_times_at_once_is_kept(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        thread_id = await open_thread(hub)
        large = "x" * 100_000
        posted = await asyncio.gather(*[post(hub, thread_id, large) for _ in range(20)])
        assert len({p.event.message_id for p in posted}) == 20
        assert all(hub.bus.read_content(m) == large for m in find_messages(hub.rows, thread_id))
    assert_in_order(tmp_path / "data")


async def test_a_large_message_outlives_the_deletion_of_a_thread_that_held_the_same(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        for number in range(10):
            old, new = await open_thread(hub, f"old {number}"), await open_thread(hub, f"new {number}")
            large = new_secret(8) * 10_000
            await post(hub, old, large)
            await asyncio.gather(
                post(hub, new, large), hub.log.do(DeleteThread(by=HUB, thread_id=old)), post(hub, new, large)
            )
            await asyncio.sleep(0.02)
            assert [hub.bus.read_content(m) == large for m in find_messages(hub.rows, new)] == [True, True]
    assert_in_order(tmp_path / "data")


async def test_a_large_message_that_is_refused_leaves_no_file(tmp_path: Path) -> None:
    async with open_hub(tmp_path / "data", QUIET) as hub:
        with pytest.raises(Refused, match="no thread"):
            await post(hub, "thr_nowhere", "z" * 100_000)
        assert hub.blobs.names() == []


async def test_a_full_disk_refuses_without_a_trace_and_recovers_by_itself(small_disk: SmallDisk) -> None:
    data = small_disk.path / "data"
    async with open_hub(data, QUIET) as hub:
        thread_id = await open_thread(hub)
        small_disk.fill()
        taken = 0
        with pytest.raises(Unavailable, match="disk"):
            for number in range(1000):
                await post(hub, thread_id, f"{number} {'y' * 10_000}")
                taken += 1
        with pytest.raises(Unavailable, match="disk"):
            await post(hub, thread_id, "z" * 100_000)
        with pytest.raises(Unavailable, match="disk"):
            await hub.store.move_cursor("a_reactor", 1)
        assert len(find_messages(hub.rows, thread_id, limit=1000)) == taken
        small_disk.empty()
        await post(hub, thread_id, "and on it goes")
        assert hub.blobs.names() == []
    assert_in_order(data)
