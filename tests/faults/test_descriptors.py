"""No file descriptors left: the hub neither dies nor spins, and goes on once there are some again."""

import asyncio
import contextlib
import time
from pathlib import Path

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import GONE, RestPoster, open_thread, read_all_messages, register_agent
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.conftest import checked

pytestmark = pytest.mark.anyio
LIMIT = 256


async def test_a_hub_without_descriptors_recovers_by_itself(tmp_path: Path) -> None:
    """RX-14"""
    for hub in checked(HubProcess(tmp_path / "data", prefix=("prlimit", f"--nofile={LIMIT}:{LIMIT}"))):
        thread_id = await open_thread(hub.url, hub.token)
        _, token = await register_agent(hub.url, hub.token, "agent")
        poster = RestPoster(hub.url, token, thread_id, "poster")
        await poster.post("before")
        lines = [KeepAliveConnection(hub.url, token) for _ in range(LIMIT + 50)]
        process = psutil.Process(hub.pid)
        calls = []
        for start in range(0, len(lines), 50):
            calls += [asyncio.create_task(wait(line, thread_id)) for line in lines[start : start + 50]]
            await asyncio.sleep(0.2)
        async with asyncio.timeout(WAIT_S):
            while process.num_fds() < LIMIT - 5 or await busy_share(process) >= 0.5:
                pass
        await poster.post("an open connection still works")
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        for line in lines:
            line.close()
        async with asyncio.timeout(WAIT_S):
            other = RestPoster(hub.url, token, thread_id, "other")
            await other.post("and so does a new one")
        stored = {m["content"] for m in await read_all_messages(hub.url, hub.token, thread_id)}
        assert stored == {"before", "an open connection still works", "and so does a new one"}
        poster.close()
        other.close()


async def busy_share(process: psutil.Process) -> float:
    """How much of a processor it uses during a second."""
    cpu, began = sum(process.cpu_times()[:2]), time.monotonic()
    await asyncio.sleep(1)
    return float(sum(process.cpu_times()[:2]) - cpu) / (time.monotonic() - began)


async def wait(line: KeepAliveConnection, thread_id: str) -> None:
    """Hold a connection open; the hub may be unable to take it."""
    with contextlib.suppress(*GONE):
        await line.call("GET", f"/api/threads/{thread_id}/wait?timeout_ms={LONG_MS}")


async def test_what_cannot_be_kept_for_want_of_descriptors_is_refused_and_not_shortened(tmp_path: Path) -> None:
    for hub in checked(HubProcess(tmp_path / "data")):
        thread_id = await open_thread(hub.url, hub.token)
        path = f"/api/threads/{thread_id}/messages"
        async with KeepAliveConnection(hub.url, hub.token) as line:
            assert (await line.call("POST", path, {"content": "long" * 20_000})).status == 201
            process = psutil.Process(hub.pid)
            limits = process.rlimit(psutil.RLIMIT_NOFILE)
            process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds(), limits[1]))
            answer = await line.call("GET", path)
            assert answer.status == 503 or answer.json[0]["content"] == "long" * 20_000
            refused = await line.call("POST", path, {"content": "more" * 20_000})
            assert refused.status in (201, 503, 507)
            process.rlimit(psutil.RLIMIT_NOFILE, limits)
            assert (await line.call("GET", path)).json[0]["content"] == "long" * 20_000
