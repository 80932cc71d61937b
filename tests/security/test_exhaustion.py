"""What strangers and agents can use up: RX-01 to RX-04, RX-08, RX-11, RX-12."""

import asyncio
import base64
import contextlib
import gzip
import json
import socket
import statistics
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.raw_http import KeepAliveConnection, open_socket, send_raw
from greenroom.testing.rest_agents import need_success, open_thread, register_agent
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.security.conftest import House
from tests.security.rig import Mcp, initialize_params

pytestmark = pytest.mark.anyio
MB = 1_000_000


def cpu_s(hub: HubProcess) -> float:
    """The processor time that the hub has used, which does not depend on what else the machine does."""
    return sum(psutil.Process(hub.pid).cpu_times()[:2])


def rss(hub: HubProcess) -> int:
    return psutil.Process(hub.pid).memory_info().rss


@contextlib.asynccontextmanager
async def background(hub: HubProcess) -> AsyncIterator[list[float]]:
    """An agent that posts every 50 ms meanwhile; how long each post took."""
    thread_id = await open_thread(hub.url, hub.token, f"background {time.monotonic()}")
    took: list[float] = []

    async def post() -> None:
        async with KeepAliveConnection(hub.url, hub.token) as line:
            while True:
                began = time.monotonic()
                need_success(await line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "still here"}))
                took.append(time.monotonic() - began)
                await asyncio.sleep(0.05)

    task = asyncio.create_task(post())
    try:
        yield took
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is not None:
            raise AssertionError("the agent in the background failed") from task.exception()


def p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def head(hub: HubProcess, line: str, token: str | None, *more: str) -> bytes:
    proof = [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([line, f"Host: 127.0.0.1:{hub.port}", *proof, *more, "", ""]).encode()


def pour(hub: HubProcess, first: bytes, chunk: bytes, limit: int) -> tuple[int, int]:
    """Send chunk after chunk until the hub has had enough; its status, and how much it let us send."""
    sent = 0
    with open_socket(hub.url) as line:
        line.sendall(first)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < limit:
                line.sendall(chunk)
                sent += len(chunk)
        with contextlib.suppress(ConnectionResetError):
            heard = line.recv(4096)
            return int(heard.split(b" ")[1]) if heard else 0, sent
    return 0, sent


@pytest.mark.parametrize("who", [None, "operator"])
@pytest.mark.parametrize("path", ["/api/threads", "/mcp", "/login", "/api/upload/image"])
def test_a_body_without_end_is_cut_off(house: House, path: str, who: str | None) -> None:
    """RX-01"""
    token = house.tokens[who] if who else None
    before = rss(house.hub)
    kinds = ("Content-Type: application/json", "Accept: application/json, text/event-stream")
    chunked = head(house.hub, f"POST {path} HTTP/1.1", token, *kinds, "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    status, sent = pour(house.hub, chunked, chunk, 100 * MB)
    assert status in (0, 400, 401, 413, 415, 429), status
    assert sent < 30 * MB
    stated = head(house.hub, f"POST {path} HTTP/1.1", token, *kinds, f"Content-Length: {1000 * MB}")
    [answer] = send_raw(house.hub.url, stated, once=True)
    assert answer.status in (401, 413, 429)
    assert rss(house.hub) - before < 50 * MB


def test_headers_without_end_are_cut_off(house: House) -> None:
    """RX-01"""
    before = rss(house.hub)
    start = f"HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n"
    many = "".join(f"X-Header-{number}: x\r\n" for number in range(10_000))
    attacks = {
        "10,000 headers": f"GET /login {start}{many}\r\n",
        "200 headers": f"GET /login {start}{many[:3000]}\r\n\r\n",
        "a header of 1 MB": f"GET /login {start}X: {'x' * MB}\r\n\r\n",
        "a header of 40 kB": f"GET /login {start}X: {'x' * 40_000}\r\n\r\n",
        "a name of 1 MB": f"GET /login {start}{'x' * MB}: x\r\n\r\n",
        "100,000 parameters": f"GET /login?{'a=b&' * 100_000} {start}\r\n",
        "a target of 1 MB": f"GET /{'x' * MB} {start}\r\n",
        "headers without end": f"GET /login {start}" + "X: y\r\n" * 200_000,
    }
    for name, said in attacks.items():
        answers = send_raw(house.hub.url, said.encode(), once=True)
        assert [a.status for a in answers] in ([431], [400], []), (name, answers)
    assert rss(house.hub) - before < 50 * MB


def test_a_compressed_body_is_not_unpacked(house: House) -> None:
    """RX-01"""
    bomb = gzip.compress(b"0" * 100 * MB)
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    with house.client("operator") as client:
        client.post(
            "/mcp", content=b"{}", headers={"Content-Type": "application/json"}
        )  # what serves it is loaded late
        before = rss(house.hub)
        for path in ("/api/threads", "/mcp", "/api/upload/image"):
            answer = client.post(path, content=bomb, headers={**headers, "Accept": "application/json"})
            assert answer.status_code in (400, 415), answer.text
    assert rss(house.hub) - before < 20 * MB


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[HubProcess]:
    yield from checked(HubProcess(tmp_path / "data"))


async def test_slow_and_silent_strangers_go_and_hold_nobody_up(own_hub: HubProcess) -> None:
    """RX-01, RX-03"""
    hub = own_hub
    process = psutil.Process(hub.pid)
    before = process.num_fds()
    body = (
        f"POST /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\nAuthorization: Bearer {hub.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    ).encode()
    upgrade = (
        f"GET /sync HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    ).encode()
    first: dict[str, bytes] = {"silent": b"", "slow head": b"GET", "slow body": body, "half upgrade": upgrade}
    lines = {name: [open_socket(hub.url) for _ in range(100)] for name in first}
    for name, said in first.items():
        for line in lines[name]:
            line.sendall(said)
    began = time.monotonic()
    ended: dict[str, float] = {}
    async with background(hub) as took:
        open_lines = {name: set(found) for name, found in lines.items()}
        while open_lines and time.monotonic() - began < WAIT_S:
            await asyncio.sleep(0.5)
            for name, found in list(open_lines.items()):
                for line in list(found):
                    if is_closed(line, b"x" if name != "silent" else b""):
                        found.discard(line)
                if not found:
                    ended[name] = time.monotonic() - began
                    del open_lines[name]
    assert not open_lines, {name: len(found) for name, found in open_lines.items()}
    assert max(took) < min(ended.values()), "nobody else waits for those who dawdle"
    wait_until(lambda: process.num_fds() <= before + 5)
    for found in lines.values():
        for line in found:
            line.close()


def is_closed(line: socket.socket, say: bytes) -> bool:
    """Whether the hub has hung up; else one more byte is said."""
    try:
        line.setblocking(False)
        if say:
            line.send(say)
        while line.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except (BrokenPipeError, ConnectionResetError):
        return True


def test_newcomers_are_bounded_and_the_oldest_has_to_go(tmp_path: Path) -> None:
    """RX-03"""
    prefix = ("prlimit", "--nofile=400:400")
    with HubProcess(tmp_path / "data", prefix=prefix) as hub:
        crowd = [open_socket(hub.url) for _ in range(350)]
        wait_until(lambda: httpx.get(f"{hub.url}/health").status_code == 200)
        assert psutil.Process(hub.pid).num_fds() < 250
        assert is_closed(crowd[0], b"")
        assert not is_closed(crowd[-1], b"")
        for line in crowd:
            line.close()


def test_sessions_of_mcp_are_bounded_and_end_by_themselves(tmp_path: Path) -> None:
    """RX-02"""
    env = {"GREENROOM_MAX_MCP_SESSIONS": "40", "GREENROOM_MCP_IDLE_S": "2"}
    with HubProcess(tmp_path / "data", env) as hub:
        headers = {"Authorization": f"Bearer {hub.token}", "Accept": "application/json, text/event-stream"}
        with httpx.Client(base_url=hub.url, headers=headers) as client:
            opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}
            guest = client.post("/api/credentials", json={"kind": "viewer", "name": "guest"}).json()["token"]
            statuses = [client.post("/mcp", json=opening).status_code for _ in range(100)]
            assert set(statuses) == {200, 429}
            assert statuses.count(200) <= 20, "a principal has half of them at most"
            with httpx.Client(base_url=hub.url, headers={**headers, "Authorization": f"Bearer {guest}"}) as other:
                mcp = Mcp(other)
                assert other.delete("/mcp", headers=mcp.headers()).status_code == 200
            bad = {**opening, "params": {"protocolVersion": 7}}
            refused = {client.post("/mcp", json=bad).status_code for _ in range(50)}
            assert 200 not in refused or refused == {200, 429}
            wait_until(lambda: client.post("/mcp", json=opening).status_code == 200)


def test_opening_sessions_for_ever_costs_no_memory(house: House) -> None:
    """RX-02"""
    with house.client("operator") as client:
        client.headers["Accept"] = "application/json, text/event-stream"
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}

        def open_and_close() -> None:
            for _ in range(300):
                session = client.post("/mcp", json=opening).headers["mcp-session-id"]
                assert client.delete("/mcp", headers={"mcp-session-id": session}).status_code == 200

        open_and_close()
        before = rss(house.hub)
        open_and_close()
        assert rss(house.hub) - before < 5 * MB


def frame(opcode: int, payload: bytes, *, fin: bool = True, reserved: int = 0, length: int | None = None) -> bytes:
    """A masked WebSocket frame; `length` may lie."""
    size = len(payload) if length is None else length
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    if size < 126:
        start = bytes([first, 0x80 | size])
    elif size < 65536:
        start = bytes([first, 0x80 | 126]) + struct.pack("!H", size)
    else:
        start = bytes([first, 0x80 | 127]) + struct.pack("!Q", size)
    return start + b"\0\0\0\0" + payload


BOMBS: dict[str, tuple[Callable[[], Iterator[bytes]], set[int]]] = {
    "a message of 256 MB": (lambda: iter([frame(1, b"x" * 1000, length=256 * MB)]), {1009}),
    "a message of 2 MB": (lambda: iter([frame(1, b"x" * 2 * MB)]), {1009, 0}),
    "200,000 messages of a byte": (lambda: (frame(1, b"x") * 1000 for _ in range(200)), {1008, 0}),
    "200,000 empty fragments": (
        lambda: iter([frame(1, b"", fin=False), *[frame(0, b"", fin=False) * 1000] * 200]),
        {1002, 1008, 1009, 0},
    ),
    "fragments without end": (
        lambda: iter([frame(1, b"", fin=False), *[frame(0, b"x" * 1000, fin=False) * 10] * 200]),
        {1009, 0},
    ),
    "50,000 pings": (lambda: (frame(9, b"p" * 100) * 500 for _ in range(100)), {0, 1008}),
    "text that is no UTF-8": (lambda: iter([frame(1, b"\xff\xfe\xfd")]), {1007}),
    "reserved bits": (lambda: iter([frame(1, b"x", reserved=4)]), {1002}),
    "an unknown opcode": (lambda: iter([frame(3, b"x")]), {1002}),
    "a frame without a mask": (lambda: iter([b"\x81\x01x"]), {1002}),
    "a fragment of nothing": (lambda: iter([frame(0, b"x")]), {1002}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_on_the_socket_closes_it_and_touches_nothing_else(house: House, name: str) -> None:
    """RX-04"""
    make, codes = BOMBS[name]
    before = rss(house.hub)
    with open_socket(house.hub.url) as line, open_socket(house.hub.url) as other:
        for each in (line, other):
            each.sendall(handshake(house))
            assert b" 101 " in each.recv(4096)
        heard: list[bytes] = []
        reading = threading.Thread(target=drain, args=(line, heard))
        reading.start()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for part in make():
                line.sendall(part)
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_WR)
        reading.join(WAIT_S)
        assert not reading.is_alive()
        assert close_code(b"".join(heard)) in codes, b"".join(heard)[-200:]
        other.sendall(frame(1, json.dumps({"op": "ping"}).encode()))
        assert b"pong" in other.recv(4096)
    assert rss(house.hub) - before < 20 * MB


def handshake(house: House) -> bytes:
    return (
        f"GET /sync HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Authorization: Bearer {house.tokens['viewer']}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


def drain(line: socket.socket, heard: list[bytes]) -> None:
    with contextlib.suppress(OSError):
        while part := line.recv(65536):
            heard.append(part[-300:])


def close_code(heard: bytes) -> int:
    """The code of the close frame at the end; 0 if there is none, or it was lost because we kept on sending."""
    at = heard.rfind(b"\x88")
    return int.from_bytes(heard[at + 2 : at + 4]) if at >= 0 and len(heard) >= at + 4 else 0


async def test_a_flood_of_one_agent_does_not_hold_up_the_others(own_hub: HubProcess) -> None:
    """RX-08"""
    hub = own_hub
    thread_id = await open_thread(hub.url, hub.token)
    _, token = await register_agent(hub.url, hub.token, "flooder")
    flooding = True
    sent = 0

    async def flood() -> None:
        nonlocal sent
        async with KeepAliveConnection(hub.url, token) as line:
            while flooding:
                answer = await line.call("POST", f"/api/threads/{thread_id}/messages", {"content": "x" * 250_000})
                assert answer.status == 201
                sent += 1

    async with background(hub) as took:
        tasks = [asyncio.create_task(flood()) for _ in range(8)]
        async with asyncio.timeout(WAIT_S):  # nobody else waits until it is over
            while len(took) < 50:  # noqa: ASYNC110 another task fills it
                await asyncio.sleep(0.1)
        flooding = False
        await asyncio.gather(*tasks)
    print(f"{sent} posts of 250 kB; others: p95 {p95(took) * 1000:.0f} ms of {len(took)}")
    assert sent > 8


async def test_an_agent_that_posts_too_much_is_told_to_wait(tmp_path: Path) -> None:
    """RX-08"""
    with HubProcess(tmp_path / "data", {"GREENROOM_POSTS_PER_MINUTE": "30"}) as hub:
        thread_id = await open_thread(hub.url, hub.token)
        _, noisy = await register_agent(hub.url, hub.token, "noisy")
        _, quiet = await register_agent(hub.url, hub.token, "quiet")
        path = f"/api/threads/{thread_id}/messages"
        async with KeepAliveConnection(hub.url, noisy) as line, KeepAliveConnection(hub.url, quiet) as other:
            answers = [await line.call("POST", path, {"content": f"{n}"}) for n in range(60)]
            assert {a.status for a in answers} == {201, 429}
            assert [a.status for a in answers].count(201) <= 60
            assert int(answers[-1].headers["retry-after"]) >= 1
            need_success(await other.call("POST", path, {"content": "not held up"}))


async def test_requests_can_be_limited_per_credential(tmp_path: Path) -> None:
    """RX-08"""
    with HubProcess(tmp_path / "data", {"GREENROOM_REQUESTS_PER_SECOND": "5"}) as hub:
        _, noisy = await register_agent(hub.url, hub.token, "noisy")
        async with KeepAliveConnection(hub.url, noisy) as line, KeepAliveConnection(hub.url, hub.token) as other:
            statuses = [(await line.call("GET", "/api/threads")).status for _ in range(80)]
            assert set(statuses) == {200, 429}
            need_success(await other.call("GET", "/api/threads"))


async def test_who_works_fast_does_not_meet_the_limit_of_requests(own_hub: HubProcess) -> None:
    """RX-08"""
    assert Settings().requests_per_second == 1_000, "the limit is on, unless the operator takes it off"
    _, busy = await register_agent(own_hub.url, own_hub.token, "busy")
    async with KeepAliveConnection(own_hub.url, busy) as line:
        assert {(await line.call("GET", "/api/agents")).status for _ in range(1_500)} == {200}


def deep(depth: int, opening: str, closing: str) -> str:
    return opening * depth + "1" + closing * depth


JSON_BOMBS = {
    "deep lists": deep(200_000, "[", "]"),
    "deep objects": deep(100_000, '{"a":', "}"),
    "deep and open": "[" * 500_000,
    "a number of 5,000 digits": '{"topic": ' + "9" * 5000 + "}",
    "a huge exponent": '{"topic": 1e99999}',
    "NaN": '{"topic": NaN}',
    "Infinity": '{"topic": -Infinity}',
    "a lone surrogate": '{"topic": "\\ud800"}',
    "a lone surrogate as a key": '{"\\udfff": 1, "topic": 5}',
    "not UTF-8": '{"topic": "\xff\xfe"}',
    "a NUL": '{"topic": "\0"}',
    "a byte order mark": '\ufeff{"topic": "x"}',
    "nothing": "",
    "only spaces": " " * 100_000,
    "two values": "{} {}",
    "a string": '"topic"',
    "a list": '[{"topic": "x"}]',
    "null": "null",
    "a deep field": '{"topic": "t", "metadata": ' + deep(100_000, '{"a":', "}") + "}",
}


@pytest.mark.parametrize("name", JSON_BOMBS)
def test_json_that_is_a_trap_is_refused_quickly(house: House, name: str) -> None:
    """RX-11"""
    body = JSON_BOMBS[name].encode("latin-1" if name == "not UTF-8" else "utf-8")
    with house.client("operator") as client:
        client.headers["content-type"] = "application/json"
        mcp = Mcp(client)
        before_s = cpu_s(house.hub)
        answer = client.post("/api/threads", content=body)
        assert answer.status_code in (400, 413), answer.text[:300]
        call = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thread_create","arguments":'
            + body
            + b"}}"
        )
        for content in (body, call):
            answer = client.post("/mcp", content=content, headers=mcp.headers())
            assert answer.status_code in (200, 400), answer.text[:300]
            if answer.status_code == 200:
                assert answer.json()["result"]["isError"] or "error" in answer.text, answer.text[:300]
        assert cpu_s(house.hub) - before_s < 20
    assert not [t for t in house.call("operator", "GET", "/api/threads").json()["threads"] if t["topic"] == "t"]


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=" + ",".join(["0-"] * 5000)},
        {"Range": "bytes=" + ",".join(f"{n}-{n + 5}" for n in range(3000))},
        {"Range": "bytes=-99999999999999999999"},
        {"Range": "bytes=5-1"},
        {"Range": "lines=1-2"},
        {"If-None-Match": ",".join(['"x"'] * 5000)},
        {"If-Modified-Since": "x" * 10_000},
    ],
)
def test_ranges_of_an_upload_cost_nothing(house: House, headers: dict[str, str]) -> None:
    """RX-12"""
    made = house.call("ada", "POST", "/api/upload/image", files={"file": ("dot.png", PNG, "image/png")})
    with house.client("ada") as client:
        client.get(made.json()["url"])
        before_s = cpu_s(house.hub)
        answer = client.get(made.json()["url"], headers=headers)
        assert cpu_s(house.hub) - before_s < 5
        assert answer.status_code in (200, 416)
        assert len(answer.content) <= len(PNG)
