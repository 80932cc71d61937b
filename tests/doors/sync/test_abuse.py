"""Whatever a client sends or leaves unread, it harms nobody but itself."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from greenroom.doors.http import frame_queue
from greenroom.doors.http.credentials import build_cookie_name
from greenroom.doors.sync import feed
from greenroom.link.tokens import hash_token, new_key
from greenroom.testing.timeouts import WAIT_S
from tests.doors.sync.sync_rig import Held, Rig, SyncClient, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with serving(tmp_path / "data") as rig:
        yield rig


async def closing(client: SyncClient) -> int | None:
    """The code with which the hub closes the socket."""
    await client.until(lambda: client.closed is not None)
    return client.closed


@pytest.mark.parametrize(
    ("sent", "number", "error"),
    [
        ('{"op":"dance","id":7}', 7, "bad_frame"),
        ('{"id":7}', 7, "bad_frame"),
        ('{"op":"subscribe"}', None, "bad_frame"),
        ('{"op":"subscribe","id":7}', 7, "bad_frame"),
        ('{"op":"subscribe","id":"7","view":"threads"}', None, "bad_frame"),
        ('{"op":"subscribe","id":-1,"view":"threads"}', None, "bad_frame"),
        ('{"op":"subscribe","id":7,"view":"threads","after":-1}', 7, "bad_frame"),
        ('{"op":"subscribe","id":7,"view":"threads","after":"now"}', 7, "bad_frame"),
        ('{"op":"subscribe","id":7,"view":"threads","limit":1001}', 7, "bad_frame"),
        ('{"op":"subscribe","id":7,"view":"secrets"}', 7, "unknown_view"),
        ('{"op":"subscribe","id":7,"view":"thread"}', 7, "bad_key"),
        ('{"op":"subscribe","id":7,"view":"threads","key":"x"}', 7, "bad_key"),
        ('{"op":"subscribe","id":7,"view":"thread","key":"thr_x\\u001f"}', 7, "thread_not_found"),
        ('{"op":"subscribe","id":1,"view":"agents"}', 1, "id_in_use"),
        ('{"op":"subscribe","id":7,"view":"threads"}', 7, "already_subscribed"),
        ('{"op":"unsubscribe","id":7}', 7, "not_subscribed"),
        ("", None, "bad_frame"),
        ("null", None, "bad_frame"),
        ("[" * 60_000, None, "bad_frame"),
        ('{"op":"ping","x":' + "[" * 60_000, None, "bad_frame"),
        (b'{"op":"ping"}', None, "bad_frame"),
    ],
)
async def test_a_frame_that_makes_no_sense_is_answered_and_changes_nothing(
    rig: Rig, sent: Any, number: int | None, error: str
) -> None:
    async with rig.client() as client:
        held = await client.subscribe("threads")
        head = rig.hub.store.head()
        await client.send(sent)
        await client.caught_up()
        assert [(f["id"], f["error"]) for f in client.frames if f["op"] == "error"] == [(number, error)]
        assert rig.hub.store.head() == head
        await rig.thread()
        await client.caught_up()
        assert len(held.rows) == 1


async def test_a_socket_has_so_many_subscriptions_and_no_more(rig: Rig) -> None:
    threads = [await rig.thread() for _ in range(10)]
    async with rig.client() as client:
        for number in range(feed.MOST_SUBSCRIPTIONS + 3):
            thread = await rig.thread() if number >= len(threads) else threads[number]
            held = await client.subscribe("thread", thread)
        assert held.error == "too_many_subscriptions"
        assert client.closed is None


async def test_ten_thousand_subscriptions_close_the_socket_and_no_other(rig: Rig) -> None:
    thread = await rig.thread()
    async with rig.client() as abuser, rig.client() as other:
        held = await other.subscribe("thread", thread)
        with suppress(websockets.ConnectionClosed):
            for number in range(10_000):
                await abuser.send({"op": "subscribe", "id": number, "view": "thread", "key": f"thr_{number}"})
        assert await closing(abuser) == 1008
        await rig.post(thread)
        await other.caught_up()
        assert held.rows["thread", thread]["messages"] == 1


async def test_a_flood_of_tiny_frames_closes_the_socket(rig: Rig) -> None:
    async with rig.client() as client:
        with suppress(websockets.ConnectionClosed):
            for _ in range(20_000):
                await client.send("x")
        assert await closing(client) == 1008


@pytest.mark.parametrize("size", [70_000, 3_000_000])
async def test_a_frame_that_is_too_large_closes_the_socket(rig: Rig, size: int) -> None:
    async with rig.client() as client:
        await client.send(json.dumps({"op": "ping", "padding": "x" * size}))
        assert await closing(client) == 1009


@pytest.mark.parametrize("kind", ["node", "webhook"])
async def test_who_may_not_read_is_not_let_in(rig: Rig, kind: str) -> None:
    with pytest.raises(websockets.InvalidStatus):
        await rig.client(await rig.token(kind)).connect()


async def test_one_caller_has_so_many_sockets_and_gets_them_back(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenroom.doors.sync.socket.MOST_SOCKETS", 3)
    clients = [rig.client() for _ in range(3)]
    await asyncio.gather(*[client.connect() for client in clients])
    with pytest.raises(websockets.InvalidStatus):
        await rig.client().connect()
    async with rig.client(await rig.token("viewer")):
        pass
    for client in clients:
        await client.send("x" * 70_000)
        await closing(client)
        await client.drop()
    await asyncio.gather(*[client.connect() for client in clients])
    for client in clients:
        await client.drop()


async def test_a_cookie_opens_the_socket_for_our_page_alone(rig: Rig) -> None:
    key = new_key()
    token = await rig.token("operator", browser=True, key_digest=hash_token(key))
    cookie = f"{build_cookie_name(rig.hub)}={token}"
    address = rig.url.replace("http", "ws", 1) + "/sync"
    offered = {"subprotocols": [Subprotocol("greenroom"), Subprotocol(f"greenroom.key.{key}")], "proxy": None}
    async with connect(address, additional_headers={"cookie": cookie}, origin=rig.url, **offered) as page:  # type: ignore[arg-type]
        await page.send('{"op":"ping"}')
        assert json.loads(await asyncio.wait_for(page.recv(), WAIT_S)) == {"op": "pong"}
    for origin in (None, "http://evil.example"):
        with pytest.raises(websockets.InvalidStatus):
            await connect(address, additional_headers={"cookie": cookie}, origin=origin, **offered)  # type: ignore[arg-type]
    with pytest.raises(websockets.InvalidStatus):
        await connect(address, additional_headers={"cookie": cookie}, origin=rig.url, proxy=None)  # type: ignore[arg-type]
    with pytest.raises(websockets.InvalidStatus):
        await connect(address, proxy=None)


async def test_a_revoked_credential_closes_its_sockets(rig: Rig) -> None:
    token = await rig.token("viewer")
    async with rig.client(token) as client, rig.client() as other:
        await client.subscribe("threads")
        await other.subscribe("threads")
        async with asyncio.timeout(WAIT_S):
            await rig.revoke(token)
            assert await closing(client) == 4401
        await other.caught_up()
        with pytest.raises(websockets.InvalidStatus):
            await client.connect()


async def test_a_client_that_does_not_read_is_cut_and_can_resume(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "OUTBOX_BYTES", 200_000)
    thread = await rig.thread()
    async with rig.client() as quick, StuckSocket(rig.url, rig.operator, thread) as stuck:
        held = await quick.subscribe("thread", thread)
        for _ in range(40):
            await asyncio.gather(*[rig.post(thread, "x" * 30_000) for _ in range(20)])
            await quick.caught_up()
        told = await stuck.read_on()
        assert told.endswith(b"\x88\x26" + (4408).to_bytes(2, "big") + b"too slow: subscribe again with after")
        assert len(told) < 8_000_000
        after = int(re.findall(rb'"seq":(\d+),"rows"', told)[-1])
        resumed = rig.client()
        again = resumed.held["thread", thread] = Held(1, 1000, seq=after)
        await resumed.connect()
        await resumed.until(lambda: bool(again.answers))
        await resumed.drop()
        assert again.answers == ["snapshot"]  # it has missed more than fits into changes
        assert again.more
        assert again.rows.items() <= held.rows.items()
        assert max(row.get("seq", 0) for row in again.rows.values()) == max(
            row.get("seq", 0) for row in held.rows.values()
        )


async def test_a_client_that_never_reads_again_is_given_up(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "OUTBOX_BYTES", 200_000)
    monkeypatch.setattr("greenroom.doors.http.websocket_sender.SEND_S", 0.2)
    thread = await rig.thread()
    others = asyncio.all_tasks()
    async with StuckSocket(rig.url, rig.operator, thread):
        its_tasks = asyncio.all_tasks() - others
        assert its_tasks
        await asyncio.gather(*[rig.post(thread, "x" * 30_000) for _ in range(800)])
        _, left = await asyncio.wait(its_tasks, timeout=WAIT_S)
        assert not left


class StuckSocket:
    """A client that subscribes to a thread and then leaves everything unread, with little room in between."""

    def __init__(self, url: str, token: str, thread: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._token = token
        self._wish = json.dumps({"op": "subscribe", "id": 1, "view": "thread", "key": thread}).encode()

    async def __aenter__(self) -> "StuckSocket":
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", self._port))
        self._reader, self._writer = await asyncio.open_connection(sock=raw, limit=4096)
        self._writer.write(
            b"GET /sync HTTP/1.1\r\nhost: 127.0.0.1:%d\r\nauthorization: Bearer %b\r\nupgrade: websocket\r\n"
            b"connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            % (self._port, self._token.encode())
        )
        await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), WAIT_S)
        self._writer.write(b"\x81" + bytes([0x80 | len(self._wish)]) + bytes(4) + self._wish)
        await asyncio.wait_for(self._reader.readuntil(b'"snapshot"'), WAIT_S)
        return self

    async def read_on(self) -> bytes:
        """Everything until the hub says why it hangs up."""
        told = b""
        async with asyncio.timeout(WAIT_S):
            while not told.endswith(b"with after"):
                told += await self._reader.read(1 << 20)
        return told

    async def __aexit__(self, *_: object) -> None:
        self._writer.transport.abort()


def test_what_is_put_at_once_may_pass_the_limit_and_nothing_after_it() -> None:
    async def run() -> None:
        box: frame_queue.FrameQueue[str] = frame_queue.FrameQueue(10)
        box.put(("x" * 6, 6), ("x" * 6, 6))
        assert not box.overflowed
        box.put(("y", 1))
        assert box.overflowed
        assert await box.take() is None

    asyncio.run(run())
