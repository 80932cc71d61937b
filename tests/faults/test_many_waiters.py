"""A thousand agents that wait: a post reaches all, waiting costs next to nothing, and who vanishes is let go."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection, RawResponse
from greenroom.testing.rest_agents import need_success, open_thread, register_agent, wait_for_waiters
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.conftest import checked

pytestmark = pytest.mark.anyio
AGENTS = 1000
TCP_REPAIR = 19
MCP = {"Accept": "application/json, text/event-stream"}


@dataclass
class Crowd:
    hub: HubProcess
    tokens: list[str] = field(default_factory=list)

    async def gather(self) -> None:
        """Enrol whoever is missing."""
        if self.tokens:
            return

        async def enrol_some(first: int) -> list[str]:
            numbers = range(first, AGENTS, 20)
            return [(await register_agent(self.hub.url, self.hub.token, f"agent {n}"))[1] for n in numbers]

        self.tokens = [token for some in await asyncio.gather(*map(enrol_some, range(20))) for token in some]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    for hub in checked(HubProcess(tmp_path_factory.mktemp("crowd") / "data")):
        yield Crowd(hub)


class RestWaiter:
    """An agent in a long poll."""

    def __init__(self, hub: HubProcess, token: str, thread_id: str) -> None:
        self._path = f"/api/threads/{thread_id}/wait?timeout_ms={LONG_MS}&after_seq=0"
        self.line = KeepAliveConnection(hub.url, token)

    async def prepare(self) -> None:
        await self.line.connect()

    async def wait(self) -> tuple[float, str]:
        """When it was woken, and by which words."""
        answer = await self.line.call("GET", self._path)
        woken = time.monotonic()
        return woken, need_success(answer)["messages"][-1]["content"]


class McpWaiter:
    """An agent in msg_wait."""

    def __init__(self, hub: HubProcess, token: str, thread_id: str) -> None:
        self._thread_id = thread_id
        self._headers = dict(MCP)
        self.line = KeepAliveConnection(hub.url, token)

    async def prepare(self) -> None:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        opened = await self._send("initialize", client)
        self._headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]

    async def _send(self, method: str, params: dict[str, Any]) -> RawResponse:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await self.line.call("POST", "/mcp", message, self._headers)
        need_success(answer)
        return answer

    async def wait(self) -> tuple[float, str]:
        arguments = {"thread_id": self._thread_id, "after_seq": 0, "timeout_ms": LONG_MS, "return_format": "json"}
        answer = await self._send("tools/call", {"name": "msg_wait", "arguments": arguments})
        woken = time.monotonic()
        waited = json.loads(answer.json["result"]["content"][0]["text"])
        return woken, waited["messages"][-1]["content"]


Waiter = type[RestWaiter] | type[McpWaiter]


async def gather_waiters(crowd: Crowd, kind: Waiter, thread_id: str, count: int) -> list[RestWaiter | McpWaiter]:
    waiters = [kind(crowd.hub, token, thread_id) for token in crowd.tokens[:count]]
    for start in range(0, count, 100):
        await asyncio.gather(*[waiter.prepare() for waiter in waiters[start : start + 100]])
    return waiters


@pytest.mark.parametrize("kind", [RestWaiter, McpWaiter])
async def test_a_post_reaches_a_thousand_agents_that_wait(crowd: Crowd, kind: Waiter) -> None:
    """RX-07"""
    hub = crowd.hub
    await crowd.gather()
    thread_id = await open_thread(hub.url, hub.token, f"crowd {kind.__name__}")
    process = psutil.Process(hub.pid)
    before = process.memory_info().rss
    waiters = await gather_waiters(crowd, kind, thread_id, AGENTS)
    waiting = [asyncio.create_task(waiter.wait()) for waiter in waiters]
    await wait_for_waiters(hub.url, hub.token, lambda count: count == AGENTS)
    grown = process.memory_info().rss - before
    cpu, began = sum(process.cpu_times()[:2]), time.monotonic()
    await asyncio.sleep(2)
    idle = (sum(process.cpu_times()[:2]) - cpu) / (time.monotonic() - began)
    async with KeepAliveConnection(hub.url, hub.token) as line:
        posted = time.monotonic()
        need_success(await line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "to all of you"}))
    async with asyncio.timeout(WAIT_S):
        woken = await asyncio.gather(*waiting)
    for waiter in waiters:
        waiter.line.close()
    assert {words for _, words in woken} == {"to all of you"}
    last = max(at for at, _ in woken) - posted
    print(f"{kind.__name__}: {grown / AGENTS / 1024:.0f} kB each, {idle:.1%} of a processor, last after {last:.2f} s")
    assert grown / AGENTS < 80 * 1024
    assert idle < 0.1
    await wait_for_waiters(hub.url, hub.token, lambda count: count == 0)


@pytest.mark.parametrize("how", ["hang up", "vanish"])
async def test_agents_that_go_away_are_let_go(crowd: Crowd, how: str) -> None:
    """RX-07"""
    hub = crowd.hub
    await crowd.gather()
    thread_id = await open_thread(hub.url, hub.token, f"leavers {how}")
    waiters = [
        *await gather_waiters(crowd, RestWaiter, thread_id, 50),
        *await gather_waiters(crowd, McpWaiter, thread_id, 50),
    ]
    waiting = [asyncio.create_task(waiter.wait()) for waiter in waiters]
    await wait_for_waiters(hub.url, hub.token, lambda count: count == 100)
    for waiter in waiters:
        _, writer = await waiter.line.connect()
        if how == "vanish":
            drop(writer.get_extra_info("socket"))
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    await wait_for_waiters(hub.url, hub.token, lambda count: count == 0)


def drop(line: socket.socket) -> None:
    """Have the kernel forget a connection without a word to the other side, as when a machine loses its power."""
    try:
        line.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    except PermissionError:
        pytest.skip("it takes root to make a connection vanish")


async def test_one_agent_has_a_bounded_number_of_waits(crowd: Crowd) -> None:
    """RX-07"""
    hub = crowd.hub
    await crowd.gather()
    thread_id = await open_thread(hub.url, hub.token, "greedy")
    lines = [KeepAliveConnection(hub.url, crowd.tokens[0]) for _ in range(30)]
    path = f"/api/threads/{thread_id}/wait?timeout_ms={LONG_MS}"
    calls = [asyncio.create_task(line.call("GET", path)) for line in lines]
    async with asyncio.timeout(WAIT_S):
        while sum(call.done() for call in calls) < 14:
            await asyncio.wait([call for call in calls if not call.done()], return_when=asyncio.FIRST_COMPLETED)
        async with KeepAliveConnection(hub.url, hub.token) as line:
            need_success(await line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "go on"}))
        answers = await asyncio.gather(*calls)
    for line in lines:
        line.close()
    assert sorted(a.status for a in answers) == [200] * 16 + [429] * 14
