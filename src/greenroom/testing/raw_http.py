"""HTTP for tests: exact to the byte, and light enough for a thousand clients at once."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from greenroom.testing.timeouts import WAIT_S

_PAUSE_S = 0.15


class RawResponse(NamedTuple):
    """An HTTP response; header names are in lower case, the last of equal ones counts."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def open_socket(url: str, timeout_s: float = WAIT_S) -> socket.socket:
    """A connection to the hub."""
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout_s)


def send_raw(url: str, said: bytes, timeout_s: float = WAIT_S, *, once: bool = False) -> list[RawResponse]:
    """Say these bytes, and listen until the hub hangs up, or adds nothing to whole answers; what it answered.

    With `once` the first whole answer is enough.
    """
    with open_socket(url, timeout_s) as line:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its answer may still be read
            line.sendall(said)
        heard = b""
        while not (once and _is_whole(heard)):
            line.settimeout(_PAUSE_S if _is_whole(heard) else timeout_s)
            try:
                part = line.recv(65536)
            except (ConnectionResetError, TimeoutError):
                break
            if not part:
                break
            heard += part
    return parse_responses(heard)


def _is_whole(heard: bytes) -> bool:
    try:
        answers = parse_responses(heard)
    except (ValueError, IndexError):
        return False
    return bool(answers) and len(answers[-1].body) >= int(answers[-1].headers.get("content-length", 0))


def parse_responses(heard: bytes) -> list[RawResponse]:
    """The responses in a stretch of bytes."""
    answers = []
    while heard:
        head, found, rest = heard.partition(b"\r\n\r\n")
        if not found:
            raise ValueError(f"not HTTP: {heard[:200]!r}")
        status, headers = _parse_head(head)
        if status == 100:
            heard = rest
            continue
        if headers.get("transfer-encoding") == "chunked":
            body, heard = _parse_chunks(rest)
        elif status == 101:
            body, heard = rest, b""
        else:
            size = int(headers.get("content-length", 0))
            body, heard = rest[:size], rest[size:]
        answers.append(RawResponse(status, headers, body))
    return answers


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split(" ")[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


def _parse_chunks(rest: bytes) -> tuple[bytes, bytes]:
    body = b""
    while rest:
        size_text, _, rest = rest.partition(b"\r\n")
        size = int(size_text, 16)
        body, rest = body + rest[:size], rest[size + 2 :]
        if size == 0:
            break
    return body, rest


class KeepAliveConnection:
    """One keep-alive connection of a client with a token; it connects again if the hub has gone meanwhile."""

    def __init__(self, url: str, token: str, headers: Mapping[str, str] | None = None) -> None:
        where = urlsplit(url)
        self._host, self._port = str(where.hostname), int(where.port or 80)
        fields = {"Host": f"{self._host}:{self._port}", "Authorization": f"Bearer {token}", **(headers or {})}
        self._fixed = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> RawResponse:
        """One request and its answer; raises OSError or EOFError when the hub goes away."""
        data = b"" if body is None else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        kind = "Content-Type: application/json\r\n" if data else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._fixed}{kind}{more}Content-Length: {len(data)}\r\n\r\n"
        try:
            reader, writer = await self.connect()
            writer.write(head.encode() + data)
            return await self._read_response(reader)
        except BaseException:
            self.close()
            raise

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The connection, made if there is none."""
        if self._reader is None or self._writer is None or self._writer.is_closing():
            self.close()
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=1 << 24)
        return self._reader, self._writer

    async def _read_response(self, reader: asyncio.StreamReader) -> RawResponse:
        status, headers = _parse_head((await reader.readuntil(b"\r\n\r\n"))[:-4])
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readexactly(2)
        else:
            body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return RawResponse(status, headers, body)

    def close(self) -> None:
        """Close the connection; the next call connects again."""
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def __aenter__(self) -> "KeepAliveConnection":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()
        await asyncio.sleep(0)  # the loop closes the socket in its next round, which may be its last
