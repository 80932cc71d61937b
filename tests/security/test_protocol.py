"""Clients that do not keep to the protocol: PR-01, PR-02, PR-04 to PR-06, PR-08, PR-10."""

import asyncio
import json
import subprocess
import sys
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection, open_socket, send_raw
from greenroom.testing.rest_agents import need_success, open_thread, read_all_messages, register_agent, wait_for_waiters
from greenroom.testing.timeouts import WAIT_S
from tests.security.conftest import House
from tests.security.rig import ACCEPT, VERSION, Mcp, initialize_params

pytestmark = pytest.mark.anyio
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def topics(house: House) -> set[str]:
    found = house.call("operator", "GET", "/api/threads?limit=200").json()["threads"]
    return {thread["topic"] for thread in found}


CREATE = {"name": "thread_create", "arguments": {"topic": "must not be"}}
MISBEHAVIOUR: list[tuple[str, Any, set[tuple[int, int]]]] = [
    (
        "a call before initialize",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CREATE},
        {(400, -32600)},
    ),
    ("a batch", [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CREATE}], {(400, -32600)}),
    ("an id of null", {"jsonrpc": "2.0", "id": None, "method": "tools/call", "params": CREATE}, {(400, -32600)}),
    ("an id with a fraction", {"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": CREATE}, {(400, -32600)}),
    ("another version of JSON-RPC", {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, {(400, -32600)}),
    ("no version of JSON-RPC", {"id": 1, "method": "tools/list"}, {(400, -32600)}),
    ("neither id nor method", {"jsonrpc": "2.0"}, {(400, -32600)}),
    ("a method that is a number", {"jsonrpc": "2.0", "id": 1, "method": 5}, {(400, -32600)}),
]


@pytest.mark.parametrize(("name", "message", "expected"), MISBEHAVIOUR, ids=[m[0] for m in MISBEHAVIOUR])
def test_what_is_no_request_does_nothing_and_opens_nothing(
    house: House, name: str, message: Any, expected: set[tuple[int, int]]
) -> None:
    """PR-01"""
    with house.client("operator") as client:
        answer = client.post("/mcp", json=message, headers={"accept": ACCEPT})
        assert (answer.status_code, answer.json()["error"]["code"]) in expected
        assert "mcp-session-id" not in answer.headers
    assert "must not be" not in topics(house)


def test_a_session_is_held_to_the_order_of_the_protocol(house: House) -> None:
    """PR-01"""
    with house.client("operator") as client:
        mcp = Mcp(client)
        again = mcp.send("initialize", initialize_params())
        assert again.status_code == 400
        assert mcp.send("tools/listx").json()["error"]["code"] == -32601
        assert mcp.send("tools/call", {"arguments": {}}).json()["error"]["code"] == -32602
        assert mcp.send("tools/call", {"name": ["x"]}).json()["error"]["code"] == -32602
        unknown = {"jsonrpc": "2.0", "id": 99, "result": {}}
        assert client.post("/mcp", json=unknown, headers=mcp.headers()).status_code == 202
        for headers in ({"accept": "text/html"}, {"content-type": "text/plain"}):
            assert client.post("/mcp", content=b"{}", headers={**mcp.headers(), **headers}).status_code in (
                400,
                406,
                415,
            )
        wrong = {**mcp.headers(), "mcp-session-id": "0" * 32}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CREATE}
        assert client.post("/mcp", json=call, headers=wrong).status_code == 404
        assert client.delete("/mcp", headers=mcp.headers()).status_code == 200
        assert client.post("/mcp", json=call, headers=mcp.headers()).status_code == 404
        for method in ("GET", "DELETE"):
            modern = {"mcp-protocol-version": MODERN, "accept": ACCEPT}
            assert client.request(method, "/mcp", headers=modern).status_code == 405
    assert "must not be" not in topics(house)


MISMATCHES: list[dict[str, str]] = [
    {"mcp-name": "thread_list"},
    {"mcp-name": "THREAD_CREATE"},
    {"mcp-method": "tools/list"},
    {"mcp-protocol-version": "1999-01-01"},
    {"mcp-protocol-version": VERSION},
]


@pytest.mark.parametrize("changed", MISMATCHES)
def test_headers_that_say_something_else_than_the_body_stop_the_call(house: House, changed: dict[str, str]) -> None:
    """PR-02"""
    headers = {
        "accept": ACCEPT,
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": "thread_create",
        **changed,
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CREATE, "_meta": META}}
    answer = house.call("operator", "POST", "/mcp", json=call, headers=headers)
    assert answer.status_code == 400, answer.text
    assert "must not be" not in topics(house)


@pytest.mark.parametrize("name", ["mcp-name", "mcp-method", "mcp-protocol-version"])
def test_a_routing_header_must_be_there_once(house: House, name: str) -> None:
    """PR-02"""
    values = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "thread_create"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CREATE, "_meta": META}}
    for times in (0, 2):
        headers = [
            ("accept", ACCEPT),
            *[pair for pair in values.items() if pair[0] != name],
            *[(name, values[name])] * times,
        ]
        with house.client("operator") as client:
            assert client.post("/mcp", json=call, headers=headers).status_code == 400
    assert "must not be" not in topics(house)


@pytest.mark.parametrize("era", [VERSION, MODERN])
async def test_a_wait_whose_client_goes_is_over_and_the_next_one_misses_nothing(hub: HubProcess, era: str) -> None:
    """PR-04"""
    thread_id = await open_thread(hub.url, hub.token)
    _, token = await register_agent(hub.url, hub.token, "agent")
    headers = {"Accept": ACCEPT}
    if era == VERSION:
        async with KeepAliveConnection(hub.url, token) as line:
            opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}
            headers["Mcp-Session-Id"] = (await line.call("POST", "/mcp", opening, headers)).headers["mcp-session-id"]
    else:
        headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "msg_wait"}

    async def wait(after: int, timeout_ms: int) -> list[dict[str, Any]]:
        arguments = {"thread_id": thread_id, "after_seq": after, "timeout_ms": timeout_ms, "return_format": "json"}
        params = {"name": "msg_wait", "arguments": arguments, **({"_meta": META} if era == MODERN else {})}
        async with KeepAliveConnection(hub.url, token) as line:
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
            answer = need_success(await line.call("POST", "/mcp", call, headers))
            return json.loads(answer["result"]["content"][0]["text"])["messages"]  # type: ignore[no-any-return]

    heard: list[str] = []
    seq = 0
    async with KeepAliveConnection(hub.url, hub.token) as poster:
        for number in range(15):
            waiting = asyncio.create_task(wait(seq, 30_000))
            if number % 3 != 2:
                await wait_for_waiters(hub.url, hub.token, lambda count: count == 1)
            if number % 3:
                waiting.cancel()
                await asyncio.wait([waiting])
                await wait_for_waiters(hub.url, hub.token, lambda count: count == 0)
            posted = await poster.call("POST", f"/api/threads/{thread_id}/messages", {"content": f"{number}"})
            need_success(posted)
            messages = await (wait(seq, 5000) if number % 3 else waiting)
            heard += [m["content"] for m in messages]
            seq = messages[-1]["seq"]
    assert heard == [m["content"] for m in await read_all_messages(hub.url, hub.token, thread_id)]


@pytest.mark.parametrize("era", ["retry", "race"])
async def test_a_post_whose_answer_was_lost_is_posted_once(hub: HubProcess, era: str) -> None:
    """PR-04"""
    thread_id = await open_thread(hub.url, hub.token)
    path = f"/api/threads/{thread_id}/messages"
    for number in range(20):
        key = {"Idempotency-Key": f"key-{number}"}
        body = {"content": f"{number}"}
        line = KeepAliveConnection(hub.url, hub.token)
        posting = asyncio.create_task(line.call("POST", path, body, key))
        await asyncio.sleep(0.001 * (number % 5))
        if era == "retry":
            posting.cancel()
        async with KeepAliveConnection(hub.url, hub.token) as again:
            need_success(await again.call("POST", path, body, key))
        await asyncio.wait([posting])
        line.close()
    assert [m["content"] for m in await read_all_messages(hub.url, hub.token, thread_id)] == [str(n) for n in range(20)]


def events(house: House, who: str, last: str | None, enough: int, query: str = "") -> tuple[int, list[dict[str, Any]]]:
    """The status and the first events of a stream, with their ids."""
    headers = {"accept": "text/event-stream", **({"last-event-id": last} if last is not None else {})}
    found: list[dict[str, Any]] = []
    with house.client(who) as client, client.stream("GET", f"/events{query}", headers=headers) as stream:
        if stream.status_code != 200:
            return stream.status_code, []
        current: dict[str, Any] = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if name in ("id", "data"):
                current[name] = value
            if not line and "data" in current:
                found.append({"id": current.get("id"), **json.loads(current["data"])})
                current = {}
                if len(found) >= enough:
                    break
    return 200, found


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "1; DROP TABLE", "\u0661", "9" * 30, "0x10", " "])
def test_a_stream_cannot_be_resumed_by_a_made_up_id(house: House, last: str) -> None:
    """PR-05"""
    head = (
        f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\nAuthorization: Bearer {house.tokens['bob']}\r\n"
    )
    with open_socket(house.hub.url) as line:
        line.sendall(f"{head}Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n\r\n".encode())
        heard = line.recv(65536)
    assert heard.split(b" ")[1] in (b"400", b"200")
    assert b"data:" not in heard or b"Traceback" not in heard


def test_a_resumed_stream_shows_only_what_its_owner_may_see(house: House) -> None:
    """PR-05"""
    status, all_events = events(house, "operator", "0", 2)
    assert status == 200
    rooms: set[str] = set()
    done = threading.Event()

    def listen() -> None:
        _, found = events(house, "confined", "0", 3)
        rooms.update(str(e["payload"]) for e in found)
        done.set()

    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    for number in range(3):
        for room in ("closed_room", "open"):
            path = f"/api/threads/{house.threads[room]}/messages"
            house.call("operator", "POST", path, json={"content": f"{room} {number}"})
    assert done.wait(WAIT_S)
    listening.join(WAIT_S)
    assert all_events
    assert rooms
    assert not [payload for payload in rooms if house.threads["closed_room"] in payload]
    assert not [payload for payload in rooms if house.threads["mailbox"] in payload]


def test_two_resumptions_at_once_both_get_everything(house: House) -> None:
    """PR-05"""
    results = [events(house, "operator", "0", 3) for _ in range(2)]
    assert results[0] == results[1]
    [first, *later] = [e["id"] for e in results[0][1]]
    resumed = events(house, "operator", first, len(later))[1]
    assert [e["id"] for e in resumed] == later


def test_stdio_survives_whatever_comes_in(house: House) -> None:
    """PR-06"""
    argv = [sys.executable, "-m", "greenroom", "mcp", "--url", house.hub.url, "--token", house.tokens["ada"]]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}
        said = [
            b"junk",
            b"\xff\xfe\x00",
            b"[" * 100_000,
            b"x" * 20_000_000,
            b"{}",
            b'{"jsonrpc": "2.0", "id": 7}',
            json.dumps(opening).encode(),
            b'{"jsonrpc": "2.0", "id": 8, "method": "ping"}',
        ]
        writing = threading.Thread(target=lambda: _say(process, said), daemon=True)
        writing.start()
        answers = []
        for line in process.stdout:
            answers.append(json.loads(line))
            if answers[-1].get("id") == 8:
                break
        writing.join(WAIT_S)
        assert any("serverInfo" in a.get("result", {}) for a in answers)
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 9, "meth')
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
        assert process.stderr is not None
        complaints = process.stderr.read()
    assert b"Traceback" not in complaints
    assert house.tokens["ada"].encode() not in complaints


def _say(process: "subprocess.Popen[bytes]", lines: list[bytes]) -> None:
    assert process.stdin is not None
    for line in lines:
        process.stdin.write(line + b"\n")
        process.stdin.flush()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FRAMES = st.one_of(
    VALUES.map(json.dumps),
    st.text(max_size=50),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["subscribe", "unsubscribe", "ping", "snapshot", "SUBSCRIBE", ""]) | VALUES},
        optional={
            "id": st.integers(-5, 5) | VALUES,
            "view": st.sampled_from(["threads", "thread", "agents", "credentials", "templates", "x"]) | VALUES,
            "key": st.text(max_size=10) | VALUES,
            "after": st.integers(-(2**70), 2**70) | VALUES,
            "limit": st.integers(-10, 10**9) | VALUES,
            "more": VALUES,
        },
    ).map(json.dumps),
)


def test_the_sync_socket_answers_whatever_it_hears_and_changes_nothing(house: House) -> None:
    """PR-08"""
    before = done_at(house)
    proof = {"Authorization": f"Bearer {house.tokens['viewer']}"}
    codes: set[int | None] = set()

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(FRAMES, min_size=1, max_size=6), st.booleans())
    def fuzz(frames: list[str], binary: bool) -> None:
        with connect(f"ws{house.hub.url[4:]}/sync", additional_headers=proof) as socket:
            try:
                for frame in frames:
                    socket.send(frame.encode() if binary else frame)
                socket.send(json.dumps({"op": "ping"}))
                while True:
                    answer = json.loads(socket.recv(5))
                    assert answer["op"] in ("snapshot", "changes", "resync", "error", "pong", "signal"), answer
                    if answer["op"] == "pong" and not any('"ping"' in frame for frame in frames):
                        break
                    if answer["op"] == "pong":
                        return
            except ConnectionClosed as closed:
                codes.add(closed.rcvd.code if closed.rcvd else None)

    fuzz()
    assert codes <= {1008, 1009}, codes
    assert done_at(house) == before


def done_at(house: House) -> list[Any]:
    """What was done with power, but for the record of what was refused, and the threads as they are."""
    done = house.call("operator", "GET", "/api/audit?limit=1000").json()["events"]
    kept = [event["seq"] for event in done if event["type"] != "CallRefused"]
    return [kept, house.call("operator", "GET", "/api/threads").json()]


def desync(house: House) -> dict[str, str]:
    """Requests that two readers could take for different ones; each hides one that would make a thread `smuggled`."""
    port, token = house.hub.port, house.tokens["operator"]
    body = '{"topic": "smuggled"}'
    start = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    hidden = (
        f"POST /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    size = len(hidden)
    return {
        "length and chunks": f"{start}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
        "chunks and length": f"{start}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{hidden}",
        "two lengths": f"{start}Content-Length: 0\r\nContent-Length: {size}\r\n\r\n{hidden}",
        "a list of lengths": f"{start}Content-Length: 0, {size}\r\n\r\n{hidden}",
        "a signed length": f"{start}Content-Length: +0\r\n\r\n{hidden}",
        "a negative length": f"{start}Content-Length: -1\r\n\r\n{hidden}",
        "a hexadecimal length": f"{start}Content-Length: 0x0\r\n\r\n{hidden}",
        "a length with a space": f"{start}Content-Length : 0\r\n\r\n{hidden}",
        "xchunked": f"{start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}",
        "chunked twice": f"{start}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{hidden}",
        "chunked, then not": f"{start}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}",
        "a tab before chunked": f"{start}Transfer-Encoding:\tchunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n{hidden}",
        "a space in the name": f"{start}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{hidden}",
        "a folded header": f"{start}X: y\r\n Content-Length: 0\r\n\r\n{hidden}",
        "bare line feeds": f"{start}X: y\nContent-Length: 0\n\n{hidden}",
        "a bare carriage return": f"{start}X: y\rContent-Length: 0\r\n\r\n{hidden}",
        "a header without a name": f"{start}: y\r\nContent-Length: 0\r\n\r\n{hidden}",
        "a NUL in a header": f"{start}X: \0\r\nContent-Length: 0\r\n\r\n{hidden}",
        "a huge chunk": f"{start}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{hidden}",
        "a negative chunk": f"{start}Transfer-Encoding: chunked\r\n\r\n-1\r\n{hidden}",
        "a chunk with a prefix": f"{start}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n{hidden}",
        "a chunk that is too long": f"{start}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n{hidden}",
        "HTTP/0.9": f"GET /login\r\n{hidden}",
        "HTTP/2": f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{hidden}",
        "another version": f"POST /login HTTP/9.9\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\n\r\n{hidden}",
        "two hosts": f"{start}Host: evil.test\r\nContent-Length: 0\r\n\r\n{hidden}",
    }


def test_no_request_is_hidden_in_another(house: House) -> None:
    """PR-10"""
    for name, said in desync(house).items():
        answers = send_raw(house.hub.url, said.encode("latin-1"), 5)
        assert "smuggled" not in topics(house), (name, answers)
        assert [a.status for a in answers] in ([400], [401], [413], [421], [408], []), (name, answers)


def test_a_second_request_after_an_unread_body_is_not_run(house: House) -> None:
    """PR-10"""
    port, token = house.hub.port, house.tokens["operator"]
    body = '{"topic": "smuggled"}'
    hidden = (
        f"POST /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    outer = (
        f"POST /api/agents/register HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(hidden)}\r\n\r\n{hidden}"
    )
    answers = send_raw(house.hub.url, outer.encode())
    assert [a.status for a in answers] == [401]
    assert "smuggled" not in topics(house)


def test_two_requests_in_a_row_are_answered_in_a_row(house: House) -> None:
    """PR-10"""
    port, token = house.hub.port, house.tokens["operator"]
    one = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    two = f"GET /api/agents HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    answers = send_raw(house.hub.url, (one + two + one).encode())
    assert [a.status for a in answers] == [200, 200, 200]
    assert "threads" in answers[0].json
    assert isinstance(answers[1].json, list)
