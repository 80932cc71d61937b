"""The wire itself: sessions and their owners, headers against bodies, and what is no MCP at all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from greenroom.doors.mcp.sessions import McpSessions
from greenroom.testing.timeouts import WAIT_S
from tests.doors.mcp.mcp_rig import NEW, OLD, Rig, serving, soon

pytestmark = pytest.mark.anyio
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
HELLO = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(method: str, params: dict[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def call(name: str, arguments: dict[str, Any] | None = None, id: Any = 1, meta: Any = None) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments or {}}
    return request("tools/call", params | ({"_meta": meta} if meta else {}), id)


def new_call(name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    return call(name, arguments, meta=META)


def new_headers(name: str) -> dict[str, str]:
    return {"mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": name}


async def hello(http: httpx2.AsyncClient) -> dict[str, str]:
    """Open a session; what a client sends with every further request."""
    answer = await http.post("/mcp", json=request("initialize", HELLO))
    assert answer.status_code == 200
    headers = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": OLD}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await http.post("/mcp", json=ready, headers=headers)).status_code == 202
    return headers


@asynccontextmanager
async def waiting(rig: Rig, http: httpx2.AsyncClient, headers: dict[str, str], body: Any) -> AsyncIterator[Any]:
    """A call that waits, as the task that will have its answer."""
    task = asyncio.create_task(http.post("/mcp", json=body, headers=headers))
    await soon(rig.stage.started)
    yield task
    await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), WAIT_S)


def code_of(answer: httpx2.Response) -> tuple[int, int]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_calls_are_answered_by_json_in_both_eras() -> None:
    async with serving() as rig, rig.http() as http:
        old = await http.post("/mcp", json=call("say", {"text": "a"}, id="x-1"), headers=await hello(http))
        new = await http.post("/mcp", json=new_call("say", {"text": "b"}), headers=new_headers("say"))
    assert old.headers["content-type"] == new.headers["content-type"] == "application/json"
    assert old.json()["id"] == "x-1"
    assert set(old.json()["result"]) == {"content", "isError", "structuredContent"}
    assert new.json()["result"]["resultType"] == "complete"
    assert new.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "Greenroom"
    assert "mcp-session-id" not in new.headers


async def test_a_session_exists_for_its_owner_alone() -> None:
    async with serving() as rig, rig.http("ann") as ann, rig.http("bob") as bob:
        headers = await hello(ann)
        stream = asyncio.create_task(ann.get("/mcp", headers=headers))
        async with waiting(rig, ann, headers, call("wait")) as wait:
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            for answer in (
                await bob.post("/mcp", json=call("say", {"text": "me"}), headers=headers),
                await bob.post("/mcp", json=request("tools/list"), headers=headers),
                await bob.post("/mcp", json=request("initialize", HELLO), headers=headers),
                await bob.post("/mcp", json=cancel, headers=headers),
                await bob.get("/mcp", headers=headers),
                await bob.delete("/mcp", headers=headers),
                await bob.delete("/mcp", headers={"mcp-session-id": "0" * 32}),
            ):
                assert answer.status_code == 404
                assert answer.json()["error"]["message"] == "Session not found"
            rig.stage.curtain.set()
            assert (await wait).json()["result"]["isError"] is False
        assert not stream.done()
        assert rig.stage.said == []
        assert (await ann.post("/mcp", json=call("say", {"text": "me"}), headers=headers)).status_code == 200
        assert (await ann.delete("/mcp", headers=headers)).status_code == 200
        assert (await asyncio.wait_for(stream, WAIT_S)).headers["content-type"] == "text/event-stream"
        assert (await ann.post("/mcp", json=request("ping"), headers=headers)).status_code == 404


async def test_a_session_has_one_stream_at_a_time() -> None:
    async with serving() as rig, rig.http() as http:
        headers = await hello(http)
        async with http.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            assert (await http.get("/mcp", headers=headers)).status_code == 409
        await http.delete("/mcp", headers=headers)
        assert len(rig.door.http.sessions) == 0


async def test_an_old_client_cancels_a_wait_by_its_id_and_is_told_so() -> None:
    async with serving() as rig, rig.http() as http:
        headers = await hello(http)
        async with waiting(rig, http, headers, call("wait", id=7)) as wait:
            again = await http.post("/mcp", json=call("wait", id=7), headers=headers)
            assert code_of(again) == (400, -32600)
            for unknown in (8, "7", None, [7]):
                body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": unknown}}
                assert (await http.post("/mcp", json=body, headers=headers)).status_code == 202
            assert not wait.done()
            body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            assert (await http.post("/mcp", json=body, headers=headers)).status_code == 202
            assert code_of(await asyncio.wait_for(wait, WAIT_S)) == (200, -32800)
        await soon(rig.stage.ended)


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_client_that_goes_away_ends_its_wait(version: str) -> None:
    async with serving() as rig, rig.http() as http:
        headers = await hello(http) if version == OLD else new_headers("wait")
        body = call("wait") if version == OLD else new_call("wait")
        async with waiting(rig, http, headers, body) as wait:
            wait.cancel()
        await soon(rig.stage.ended)


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_progress_goes_over_a_stream_only_to_those_who_asked_for_it(version: str) -> None:
    async with serving() as rig, rig.http() as http:
        headers = await hello(http) if version == OLD else new_headers("wait")
        asked = {"progressToken": "p1"} | (META if version == NEW else {})
        async with http.stream("POST", "/mcp", json=call("wait", meta=asked), headers=headers) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            lines = stream.aiter_lines()
            while '"progressToken":"p1"' not in await asyncio.wait_for(anext(lines), WAIT_S):
                pass
            rig.stage.curtain.set()
            rest = [line async for line in lines if line.startswith("data: ")]
        assert '"result"' in rest[-1]
        silent = await http.post("/mcp", json=call("wait", meta=META if version == NEW else None), headers=headers)
        assert silent.headers["content-type"] == "application/json"
        accept = {"accept": "application/json"}
        unable = await http.post("/mcp", json=call("wait", meta=asked), headers=headers | accept)
        assert unable.headers["content-type"] == "application/json"
        assert '\\"has_progress\\":false' in unable.text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([call("say", {"text": "x"})], (400, -32600)),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, (400, -32600)),
        ({"jsonrpc": "2.0"}, (400, -32600)),
        (call("say", {"text": "x"}, id=None) | {"id": None}, (400, -32600)),
        (call("say", {"text": "x"}, id=1.5), (400, -32600)),
        (call("say", {"text": "x"}, id=True), (400, -32600)),
        (call("say", {"text": "x"}, id=[1]), (400, -32600)),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["say"]}, (400, -32600)),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, (200, -32602)),
        (request("tools/call", {"name": 5}), (200, -32602)),
        (request("tools/nothing"), (200, -32601)),
        (request("notifications/initialized"), (200, -32601)),
        (request("resources/read", {"uri": 5}), (200, -32602)),
        (request("initialize", HELLO), (400, -32600)),
        (new_call("say", {"text": "x"}), (400, -32020)),
    ],
)
async def test_a_session_refuses_what_is_no_request_and_does_nothing(body: Any, expected: tuple[int, int]) -> None:
    async with serving() as rig, rig.http() as http:
        answer = await http.post("/mcp", json=body, headers=await hello(http))
        assert code_of(answer) == expected
        assert rig.stage.said == []


async def test_responses_and_unknown_notifications_are_taken_and_dropped() -> None:
    async with serving() as rig, rig.http() as http:
        headers = await hello(http)
        for body in ({"jsonrpc": "2.0", "id": 99, "result": {}}, {"jsonrpc": "2.0", "method": "notifications/odd"}):
            assert (await http.post("/mcp", json=body, headers=headers)).status_code == 202


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
        (b"[" * 100_000, -32600),
    ],
)
async def test_what_is_no_json_is_refused(content: bytes, expected: int) -> None:
    kind = {"content-type": "application/json"}
    async with serving() as rig, rig.http() as http:
        answer = await http.post("/mcp", content=content, headers=await hello(http) | kind)
        assert code_of(answer) == (400, expected)


async def test_arguments_nested_too_deeply_are_refused() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"text":%s}}}'
    kind = {"content-type": "application/json"}
    async with serving() as rig, rig.http() as http:
        content = deep % (b"[" * 100_000 + b"]" * 100_000)
        answer = await http.post("/mcp", content=content, headers=await hello(http) | kind)
        assert code_of(answer) == (400, -32700)
        assert rig.stage.said == []
        assert (await http.post("/mcp", json=request("ping"), headers=await hello(http))).status_code == 200


async def test_a_client_without_a_session_can_only_initialize() -> None:
    async with serving() as rig, rig.http() as http:
        for body in (
            call("say", {"text": "x"}),
            request("tools/list"),
            {"jsonrpc": "2.0", "method": "notifications/x"},
        ):
            assert code_of(await http.post("/mcp", json=body)) == (400, -32600)
        assert (await http.get("/mcp")).status_code == 400
        assert (await http.delete("/mcp")).status_code == 400
        refused = await http.post("/mcp", json=request("initialize", {"protocolVersion": 5}))
        assert code_of(refused) == (200, -32602)
        assert "mcp-session-id" not in refused.headers
        assert len(rig.door.http.sessions) == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"accept": ""}, 406),
        ({"accept": "text/event-stream"}, 406),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
async def test_media_types_are_held_to(headers: dict[str, str], status: int) -> None:
    async with serving() as rig, rig.http() as http:
        for more in (await hello(http), new_headers("say")):
            answer = await http.post("/mcp", json=call("say", {"text": "x"}), headers=more | headers)
            assert answer.status_code == status
        assert rig.stage.said == []


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    async with serving() as rig, rig.http() as http:
        answer = await http.request(method, "/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_the_new_era_knows_only_post(method: str) -> None:
    async with serving() as rig, rig.http() as http:
        answer = await http.request(method, "/mcp", headers={"mcp-protocol-version": NEW})
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "headers",
    [
        [("mcp-name", "show")],
        [("mcp-name", "=?base64?c2hvdw==?=")],
        [("mcp-name", "=?base64?c2F5?="), ("mcp-method", "tools/list")],
        [("mcp-name", "=?base64?###?=")],
        [("mcp-name", "")],
        [("mcp-method", "")],
        [("mcp-protocol-version", OLD)],
        [("mcp-protocol-version", "2027-01-01")],
        [("mcp-name", "say"), ("mcp-name", "show")],
        [("mcp-method", "tools/call"), ("mcp-method", "tools/call")],
        [("mcp-protocol-version", NEW), ("mcp-protocol-version", OLD)],
    ],
)
async def test_headers_that_disagree_with_the_body_are_refused(headers: list[tuple[str, str]]) -> None:
    kept = [(name, value) for name, value in new_headers("say").items() if name not in dict(headers)]
    sent = [(name, value) for name, value in kept + headers if value]
    async with serving() as rig, rig.http() as http:
        answer = await http.post("/mcp", json=new_call("say", {"text": "x"}), headers=sent)
        assert code_of(answer) == (400, -32020)
        assert rig.stage.said == []


async def test_a_name_in_base64_is_the_same_name() -> None:
    async with serving() as rig, rig.http() as http:
        headers = new_headers("=?base64?c2F5?=")
        assert (await http.post("/mcp", json=new_call("say", {"text": "x"}), headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (call("say", {"text": "x"}), (400, -32602)),
        (call("say", {"text": "x"}, meta={"io.modelcontextprotocol/protocolVersion": NEW}), (400, -32602)),
        (call("say", meta=META | {"io.modelcontextprotocol/clientCapabilities": 5}), (400, -32602)),
        (call("say", meta=META | {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}), (400, -32020)),
        ([new_call("say")], (400, -32600)),
        (new_call("say") | {"id": None}, (400, -32600)),
        (request("tools/call", {"_meta": META}), (400, -32602)),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, (400, -32600)),
    ],
)
async def test_the_new_era_refuses_a_wrong_envelope(body: Any, expected: tuple[int, int]) -> None:
    async with serving() as rig, rig.http() as http:
        assert code_of(await http.post("/mcp", json=body, headers=new_headers("say"))) == expected
        assert rig.stage.said == []


async def test_an_unknown_version_is_told_which_are_known() -> None:
    async with serving() as rig, rig.http() as http:
        future = "2027-01-01"
        body = call("say", {"text": "x"}, meta=META | {"io.modelcontextprotocol/protocolVersion": future})
        answer = await http.post("/mcp", json=body, headers=new_headers("say") | {"mcp-protocol-version": future})
        assert code_of(answer) == (400, -32022)
        assert answer.json()["error"]["data"]["supported"] == [NEW]


async def test_an_unknown_method_of_the_new_era_is_not_found() -> None:
    async with serving() as rig, rig.http() as http:
        headers = {"mcp-protocol-version": NEW, "mcp-method": "tools/nothing"}
        answer = await http.post("/mcp", json=request("tools/nothing", {"_meta": META}), headers=headers)
        assert code_of(answer) == (404, -32601)


async def test_a_body_beyond_the_limit_is_refused_whether_it_says_so_or_not() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    async with serving(max_body_bytes=1000) as rig, rig.http() as http:
        headers = await hello(http) | {"content-type": "application/json"}
        assert (await http.post("/mcp", content=b" " * 1001, headers=headers)).status_code == 413
        assert (await http.post("/mcp", content=chunks(), headers=headers)).status_code == 413


async def test_sessions_are_limited_for_each_and_for_all() -> None:
    async with serving(max_mcp_sessions=4) as rig, rig.http("ann") as ann, rig.http("bob") as bob:
        mine = [await hello(ann) for _ in range(2)]
        beyond = await ann.post("/mcp", json=request("initialize", HELLO))
        assert (beyond.status_code, beyond.headers["retry-after"]) == (429, "60")
        for _ in range(2):
            await hello(bob)
        assert (await bob.post("/mcp", json=request("initialize", HELLO))).status_code == 503
        assert (await ann.post("/mcp", json=request("ping"), headers=mine[1])).status_code == 200
        await ann.delete("/mcp", headers=mine[0])
        await hello(ann)


async def test_an_idle_session_ends_and_a_busy_one_does_not() -> None:
    now = 0.0
    sessions = McpSessions(limit=100, idle_s=600, clock=lambda: now)
    idle, used, busy = (sessions.open("ann") for _ in range(3))
    busy.stream = anyio.CancelScope()
    now = 500
    assert sessions.get(used.id, "ann") is used
    now = 601
    assert len(sessions) == 2
    assert sessions.get(idle.id, "ann") is None
    now = 1102
    assert sessions.get(used.id, "ann") is None
    assert sessions.get(busy.id, "ann") is busy
    busy.stream = None
    now = 1703
    assert len(sessions) == 0
    assert not sessions.is_full_for("ann")


def test_a_session_of_another_hub_goes_on_for_its_owner_and_an_ended_one_does_not() -> None:
    here, there = (McpSessions(limit=4, idle_s=600) for _ in range(2))
    session = here.open("ann")
    taken = there.get(session.id, "ann")
    assert taken is not None and there.get(session.id, "ann") is taken
    assert there.get(here.open("ann").id, "bob") is None
    assert there.get(session.id[:8] + "0" * 24, "ann") is None
    here.end(session)
    assert here.get(session.id, "ann") is None
    there.open("ann")
    assert there.get(here.open("ann").id, "ann") is None  # ann has half of all
