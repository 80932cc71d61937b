"""A credential that ends, ends everywhere: AU-12."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import need_success, open_thread, register_agent, wait_for_waiters
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.security.rig import ACCEPT, VERSION, initialize_params

pytestmark = pytest.mark.anyio


class Everywhere:
    """One token on every kind of long call there is; `ended` names those that have ended."""

    def __init__(self, hub: HubProcess, token: str, thread_id: str) -> None:
        self._hub = hub
        self._token = token
        self._thread_id = thread_id
        self.ended: set[str] = set()
        self.last: dict[str, Any] = {}

    async def open(self) -> list[asyncio.Task[None]]:
        session = await self.session()
        wait = {"name": "msg_wait", "arguments": {"thread_id": self._thread_id, "timeout_ms": LONG_MS}}
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": wait}
        mcp = {"Accept": ACCEPT, "MCP-Protocol-Version": VERSION, "Mcp-Session-Id": session}
        stream = {**mcp, "Accept": "text/event-stream"}
        calls: dict[str, tuple[str, str, Any, dict[str, str]]] = {
            "rest wait": ("GET", f"/api/threads/{self._thread_id}/wait?timeout_ms={LONG_MS}&after_seq=99999", None, {}),
            "events": ("GET", "/events", None, {"Accept": "text/event-stream"}),
            "mcp wait": ("POST", "/mcp", call, mcp),
            "mcp stream": ("GET", "/mcp", None, stream),
            "legacy sse": ("GET", "/sse", None, {"Accept": "text/event-stream"}),
        }
        tasks = [asyncio.create_task(self._call(name, *request)) for name, request in calls.items()]
        ready = asyncio.Event()
        tasks.append(asyncio.create_task(self._socket(ready)))
        await asyncio.wait_for(ready.wait(), WAIT_S)
        return tasks

    async def session(self) -> str:
        """A session of MCP."""
        async with KeepAliveConnection(self._hub.url, self._token) as line:
            opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}
            return (await line.call("POST", "/mcp", opening, {"Accept": ACCEPT})).headers["mcp-session-id"]

    async def _call(self, name: str, method: str, path: str, body: Any, headers: dict[str, str]) -> None:
        line = KeepAliveConnection(self._hub.url, self._token)
        try:
            self.last[name] = (await line.call(method, path, body, headers)).status
        except (OSError, EOFError) as error:
            self.last[name] = type(error).__name__
        finally:
            self.ended.add(name)
            line.close()

    async def _socket(self, ready: asyncio.Event) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with connect(f"ws{self._hub.url[4:]}/sync", additional_headers=headers) as socket:
            await socket.send(json.dumps({"op": "subscribe", "id": 1, "view": "thread", "key": self._thread_id}))
            await socket.recv()
            ready.set()
            try:
                while True:
                    await socket.recv()
            except ConnectionClosed as closed:
                self.last["socket"] = closed.rcvd and closed.rcvd.code
                self.ended.add("socket")


async def by_revoking(hub: HubProcess, agent_id: str) -> None:
    async with KeepAliveConnection(hub.url, hub.token) as line:
        credentials = need_success(await line.call("GET", "/api/credentials"))
        [found] = [c["id"] for c in credentials if c["agent_id"] == agent_id]
        need_success(await line.call("DELETE", f"/api/credentials/{found}"))


async def by_kicking(hub: HubProcess, agent_id: str) -> None:
    async with KeepAliveConnection(hub.url, hub.token) as line:
        need_success(await line.call("POST", f"/api/agents/{agent_id}/kick"))


@pytest.mark.parametrize("end", [by_revoking, by_kicking])
async def test_ending_a_credential_ends_all_its_calls(
    hub: HubProcess, end: Callable[[HubProcess, str], Awaitable[None]]
) -> None:
    """AU-12"""
    thread_id = await open_thread(hub.url, hub.token)
    agent_id, token = await register_agent(hub.url, hub.token, "soon gone")
    _, other_token = await register_agent(hub.url, hub.token, "stays")
    gone, stays = Everywhere(hub, token, thread_id), Everywhere(hub, other_token, thread_id)
    tasks, others = await gone.open(), await stays.open()
    await wait_for_waiters(hub.url, hub.token, lambda count: count >= 4)
    await end(hub, agent_id)
    await asyncio.wait(tasks, timeout=WAIT_S)
    assert len(gone.ended) == 6, gone.ended
    assert gone.last["socket"] == 4401
    assert gone.last["rest wait"] == 401
    assert gone.last["mcp wait"] == 401
    assert not stays.ended
    assert "ERROR" not in hub.stderr, "ending a credential is nobody's mistake"
    async with KeepAliveConnection(hub.url, token) as line:
        assert (await line.call("GET", "/api/threads")).status == 401
    for task in others:
        task.cancel()
    await asyncio.wait(others)


async def test_a_credential_that_expires_ends_its_calls_too(hub: HubProcess) -> None:
    """AU-12"""
    thread_id = await open_thread(hub.url, hub.token)
    await Everywhere(hub, hub.token, thread_id).session()  # the first call puts the door up, which takes long
    began = time.monotonic()
    others = await Everywhere(hub, hub.token, thread_id).open()
    took_s = time.monotonic() - began
    async with KeepAliveConnection(hub.url, hub.token) as line:
        wish = {"kind": "viewer", "name": "guest", "expires_in_s": 5 + int(10 * took_s)}
        made = need_success(await line.call("POST", "/api/credentials", wish))
    guest = Everywhere(hub, made["token"], thread_id)
    tasks = await guest.open()
    await asyncio.wait(tasks, timeout=WAIT_S)
    for task in others:
        task.cancel()
    await asyncio.wait(others)
    assert len(guest.ended) == 6, guest.ended
    assert guest.last["socket"] == 4401


async def test_logging_out_ends_the_browsers_sockets(hub: HubProcess) -> None:
    """AU-12"""
    origin = {"Origin": hub.url}
    async with KeepAliveConnection(hub.url, "", {"Authorization": ""}) as line:
        form = f"code={hub.login_code}"
        reader, writer = await line.connect()
        head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\nContent-Length: {len(form)}\r\n"
        writer.write(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\n{form}".encode())
        entered = (await reader.readuntil(b"\r\n\r\n")).decode()
    cookie = next(li for li in entered.splitlines() if li.lower().startswith("set-cookie")).split(": ")[1].split(";")[0]
    key = entered.partition("#key=")[2].split()[0]
    headers = {"Cookie": cookie, "X-Greenroom-Key": key, **origin}
    address, offered = f"ws{hub.url[4:]}/sync", [Subprotocol("greenroom"), Subprotocol(f"greenroom.key.{key}")]
    page = {"additional_headers": {"Cookie": cookie}, "origin": hub.url, "subprotocols": offered}
    async with connect(address, **page) as socket:  # type: ignore[arg-type]
        async with KeepAliveConnection(hub.url, "", {"Authorization": ""}) as line:
            assert (await line.call("POST", "/logout", headers=headers)).status == 303
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), WAIT_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
