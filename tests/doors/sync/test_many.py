"""Two hundred pages at once, one of which does not read."""

import asyncio
import time
from contextlib import AsyncExitStack

import httpx
import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.sync.sync_rig import Held, SyncClient
from tests.doors.sync.test_abuse import StuckSocket

SOCKETS = 200
AT_ONCE = 16
NOISE_BYTES = 10 << 20
"""More than the system keeps for a socket that is not read, and our own outbox beside it."""


def test_a_post_reaches_all_pages_but_the_one_that_does_not_read(hub: HubProcess, api: httpx.Client) -> None:
    asyncio.run(watch_together(hub, api))


async def watch_together(hub: HubProcess, api: httpx.Client) -> None:
    thread, noise = [new_thread(api, topic) for topic in ("shared", "noise")]
    process = psutil.Process(hub.pid)
    async with AsyncExitStack() as pages:
        before = process.memory_info().rss
        clients = [await pages.enter_async_context(SyncClient(hub.url, hub.token)) for _ in range(SOCKETS - 1)]
        held = [(await client.subscribe("threads"), await client.subscribe("thread", thread)) for client in clients]
        each = (process.memory_info().rss - before) / len(clients)
        print(f"\nmemory of the hub per sync socket with two views: {each / 1024:.1f} kB")
        await pages.enter_async_context(StuckSocket(hub.url, hub.token, noise))
        for _ in range(NOISE_BYTES // 30_000 // AT_ONCE):
            await asyncio.gather(*[asyncio.to_thread(post, api, noise, "x" * 30_000) for _ in range(AT_ONCE)])
        seconds = await reach_all(api, thread, clients, [views[1] for views in held])
        print(f"one post reached {len(clients)} pages in {seconds * 1000:.0f} ms while one did not read")
        grown = process.memory_info().rss - before - each * len(clients)
        print(f"memory of the hub beyond that: {grown / 1024 / 1024:.1f} MB")
    assert each < 150 * 1024
    assert grown < 128 << 20


async def reach_all(api: httpx.Client, thread: str, clients: list[SyncClient], held: list[Held]) -> float:
    began = time.perf_counter()
    message = await asyncio.to_thread(post, api, thread, "to everybody")
    for client, view in zip(clients, held, strict=True):
        await client.until(lambda view=view: ("message", message) in view.rows)  # type: ignore[misc]
    return time.perf_counter() - began


def new_thread(api: httpx.Client, topic: str) -> str:
    answer = api.post("/api/threads", json={"topic": topic})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def post(api: httpx.Client, thread: str, content: str) -> str:
    answer = api.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": content})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_page_goes_on_where_it_was_after_the_hub_was_restarted(hub: HubProcess, api: httpx.Client, end: str) -> None:
    async def run() -> None:
        thread = new_thread(api, "here")
        post(api, thread, "before")
        client = SyncClient(hub.url, hub.token)
        await client.connect()
        held = await client.subscribe("thread", thread)
        hub.kill() if end == "kill" else hub.stop()
        await client.until(lambda: client.closed is not None)
        hub.restart()
        after = post(api, thread, "after")
        await client.connect()
        await client.until(lambda: len(held.answers) == 2)
        assert held.answers == ["snapshot", "changes"]
        assert held.rows["message", after]["content"] == "after"
        assert held.rows["thread", thread]["messages"] == 2
        await client.drop()

    asyncio.run(run())
