"""Another program holds the database locked: writers wait a bounded time, and nothing else waits at all."""

import asyncio

import apsw
import pytest

from greenroom.log.store_sqlite import FILE
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import need_success, open_thread, read_all_messages

pytestmark = pytest.mark.anyio


async def test_a_post_waits_a_moment_for_the_lock_and_is_then_refused_with_503(hub: HubProcess) -> None:
    thread_id = await open_thread(hub.url, hub.token)
    other = apsw.Connection(str(hub.data / FILE))
    other.set_busy_timeout(5000)
    other.execute("BEGIN EXCLUSIVE")
    async with KeepAliveConnection(hub.url, hub.token) as line, KeepAliveConnection(hub.url, hub.token) as reader:
        posting = asyncio.create_task(line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "late"}))
        reads = 0
        while not posting.done():
            need_success(await reader.call("GET", f"/api/threads/{thread_id}/messages"))
            reads += 1
            await asyncio.sleep(0.05)
        answer = await posting
        assert answer.status == 503
        assert answer.json["code"] == "storage_busy"
        assert int(answer.headers["retry-after"]) >= 1
        assert reads > 5, "reading must not wait for the lock"
        other.execute("ROLLBACK")
        other.close()
        need_success(await line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "in time"}))
    assert [m["content"] for m in await read_all_messages(hub.url, hub.token, thread_id)] == ["in time"]


async def test_a_short_lock_delays_a_post_and_loses_nothing(hub: HubProcess) -> None:
    thread_id = await open_thread(hub.url, hub.token)
    other = apsw.Connection(str(hub.data / FILE))
    other.set_busy_timeout(5000)
    lines = [KeepAliveConnection(hub.url, hub.token) for _ in range(20)]
    for _ in range(3):
        other.execute("BEGIN EXCLUSIVE")
        posting = [
            asyncio.create_task(line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "patient"}))
            for line in lines
        ]
        await asyncio.wait(posting, timeout=0.3)
        other.execute("ROLLBACK")
        for answer in await asyncio.gather(*posting):
            need_success(answer)
    other.close()
    for line in lines:
        line.close()
    assert len(await read_all_messages(hub.url, hub.token, thread_id)) == 60
