"""Floods below the level of messages end with the flooder and are noticed by nobody else."""

import socket
from contextlib import suppress

import httpx
import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

TEXT, CONTINUATION, PING = 1, 0, 9
SPARE_BYTES = 20 << 20


def open_socket(hub: HubProcess) -> socket.socket:
    """A WebSocket whose frames are written by hand."""
    host = hub.url.removeprefix("http://")
    raw = socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=WAIT_S)
    request = (
        f"GET /sync HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {hub.token}\r\nupgrade: websocket\r\n"
        "connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    raw.sendall(request.encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += raw.recv(1)
    assert b" 101 " in answer
    return raw


def frame(kind: int, payload: bytes, *, last: bool = True) -> bytes:
    return bytes([kind | (0x80 if last else 0), 0x80 | len(payload)]) + bytes(4) + payload


@pytest.mark.parametrize(
    ("start", "flood"),
    [
        (b"", frame(TEXT, b"x")),
        (b"", frame(PING, b"x" * 125)),
        (frame(TEXT, b"x", last=False), frame(CONTINUATION, b"x", last=False)),
        (frame(TEXT, b"x", last=False), frame(CONTINUATION, b"", last=False)),
    ],
    ids=["messages", "pings", "continuations", "empty continuations"],
)
def test_a_flood_of_frames_is_hung_up_on(hub: HubProcess, api: httpx.Client, start: bytes, flood: bytes) -> None:
    process = psutil.Process(hub.pid)
    before = process.memory_info().rss
    with open_socket(hub) as raw:
        raw.sendall(start)
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                raw.sendall(flood * 1000)
        assert process.memory_info().rss - before < SPARE_BYTES
        assert api.get("/health").status_code == 200


def test_text_that_is_no_utf_8_closes_the_socket_and_leaves_no_trace(hub: HubProcess) -> None:
    with open_socket(hub) as raw:
        raw.sendall(frame(TEXT, b"\xff"))
        told = b""
        with suppress(ConnectionError):
            while more := raw.recv(100):
                told += more
    assert told == b"\x88\x02" + (1007).to_bytes(2, "big")
    assert hub.stderr == ""
