"""The transport of 2024-11-05, at its own address and at the one that people have in their settings."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError

from greenroom.testing.timeouts import WAIT_S
from tests.doors.mcp.mcp_rig import Rig, serving, soon, text_of

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def legacy_client(rig: Rig, path: str, who: str = "ann") -> AsyncIterator[Client]:
    transport = sse_client(rig.url + path, headers={"x-who": who})
    async with Client(transport, mode="legacy", cache=None) as client:
        yield client


@pytest.mark.parametrize("path", ["/sse?lang=fr", "/mcp/sse?lang=fr"])
async def test_an_old_client_lists_calls_and_is_refused_as_a_new_one(path: str) -> None:
    async with serving() as rig, legacy_client(rig, path) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["say", "wait", "fail", "show"]
        said = text_of(await client.call_tool("say", {"text": "salut"}))
        assert said == {"by": "ann", "said": "salut", "language": "fr"}
        assert text_of(await client.call_tool("fail", {"how": "refused"}))["error"] == "ReplyTokenInvalidError"
        unfit = await client.call_tool("say", {"text": 5})
        assert (unfit.is_error, text_of(unfit)["path"]) == (True, "$.text")
        for name in ("close", "nothing"):
            with pytest.raises(MCPError, match=f"Unknown tool: {name}"):
                await client.call_tool(name, {})


async def test_a_waiting_call_sends_progress_on_the_stream() -> None:
    heard: list[float] = []

    async with serving() as rig, legacy_client(rig, "/sse") as client:

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)
            if len(heard) == 2:
                rig.stage.curtain.set()

        result = await asyncio.wait_for(client.call_tool("wait", {}, progress_callback=hear), WAIT_S)
        assert text_of(result) == {"has_progress": True}
    assert heard == sorted(set(heard))


async def test_cancelling_or_closing_ends_the_wait_in_the_hub() -> None:
    async with serving() as rig:
        async with legacy_client(rig, "/sse") as client:
            first = asyncio.create_task(client.call_tool("wait", {}))
            await soon(rig.stage.started)
            first.cancel()
            await soon(rig.stage.ended)
            last = asyncio.create_task(client.call_tool("wait", {}))
            await soon(rig.stage.started)
        last.cancel()
        await soon(rig.stage.ended)


async def test_a_session_takes_messages_from_its_owner_alone() -> None:
    async with serving() as rig, rig.http("ann") as ann, rig.http("bob") as bob:
        async with ann.stream("GET", "/sse") as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == "event: endpoint"
            found = re.fullmatch(r"data: (/messages\?session_id=[0-9a-f]{32})", await anext(lines))
            assert found is not None
            params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            hello = {"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": params}
            assert (await bob.post(found[1], json=hello)).status_code == 404
            assert (await bob.get(found[1])).status_code == 405
            assert (await ann.post("/messages?session_id=" + "0" * 32, json=hello)).status_code == 404
            assert (await ann.post(found[1], json=hello)).status_code == 202
            while not (line := await asyncio.wait_for(anext(lines), WAIT_S)).startswith("data: "):
                pass
            assert msgspec.json.decode(line[6:])["result"]["protocolVersion"] == "2024-11-05"
            assert len(rig.door.http.sessions) == 1
        async with asyncio.timeout(WAIT_S):
            while (await ann.post(found[1], json=hello)).status_code != 404:
                pass
        assert len(rig.door.http.sessions) == 0


async def test_streams_are_limited_and_must_be_asked_for() -> None:
    async with serving(max_mcp_sessions=1) as rig, rig.http() as http:
        assert (await http.get("/sse", headers={"accept": "text/html"})).status_code == 406
        assert (await http.post("/sse", json={})).status_code == 405
        async with http.stream("GET", "/sse") as stream:
            await anext(stream.aiter_lines())
            assert (await http.get("/sse")).status_code == 503


async def test_a_hub_that_stops_ends_the_streams() -> None:
    async with serving() as rig, rig.http() as http, http.stream("GET", "/sse") as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        rig.stage.signals.emit("hub.stopping", {})
        assert "event: message" not in [line async for line in lines]
