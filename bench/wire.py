"""A light HTTP/1.1 client on one keep-alive connection, so that the load generator costs less than what it measures."""

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple, cast
from urllib.parse import urlsplit

IDLE_S = 2.0  # uvicorn hangs up on a connection that was idle for five seconds


class Reply(NamedTuple):
    status: int
    head: bytes  # status line and headers; every server measured here sends names in lower case
    body: bytes

    def header(self, name: str) -> str | None:
        start = self.head.find(b"\r\n" + name.encode() + b":")
        if start < 0:
            return None
        start += len(name) + 3
        return self.head[start : self.head.find(b"\r\n", start)].decode().strip()


class WireError(Exception):
    """The server did not answer as HTTP, MCP or the bus's protocol says."""


class Connection(asyncio.Protocol):
    """One socket with at most one request in flight."""

    def __init__(self) -> None:
        self.is_open = False
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._reply: asyncio.Future[Reply] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(WireError(f"connection lost: {error or 'closed by the server'}"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        reply = split_reply(self._buffer)
        if reply is None:
            return
        self._buffer.clear()
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(reply)

    async def ask(self, request: bytes) -> Reply:
        if self._transport is None or not self.is_open:
            raise WireError("not connected")
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._reply

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def split_reply(buffer: bytearray) -> Reply | None:
    """The whole reply in the buffer, or None while bytes are missing."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(buffer[: end + 2])
    status = int(head[9:12])
    start = head.find(b"\r\ncontent-length:")
    if start >= 0:
        length = int(head[start + 17 : head.find(b"\r\n", start + 17)])
        if len(buffer) < end + 4 + length:
            return None
        return Reply(status, head, bytes(buffer[end + 4 : end + 4 + length]))
    if b"\r\ntransfer-encoding: chunked" in head:
        body = join_chunks(buffer, end + 4)
        return None if body is None else Reply(status, head, body)
    return Reply(status, head, b"")


def join_chunks(buffer: bytearray, at: int) -> bytes | None:
    parts: list[bytes] = []
    while True:
        line_end = buffer.find(b"\r\n", at)
        if line_end < 0:
            return None
        size = int(buffer[at:line_end], 16)
        at = line_end + 2
        if len(buffer) < at + size + 2:
            return None
        if size == 0:
            return b"".join(parts)
        parts.append(bytes(buffer[at : at + size]))
        at += size + 2


class Client:
    """A connection that is opened again when the server has closed it, or may be about to."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self._connection: Connection | None = None
        self._used_at = 0.0

    async def ask(self, head: bytes, body: bytes = b"") -> Reply:
        """Send a request whose head was made by `request_head`."""
        connection = self._connection
        if connection is None or not connection.is_open or monotonic() > self._used_at + IDLE_S:
            self.close()
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(Connection, self.host, self.port)
            self._connection = connection
        try:
            return await connection.ask(b"%scontent-length: %d\r\n\r\n%s" % (head, len(body), body))
        finally:
            self._used_at = monotonic()

    def request_head(self, method: str, path: str, headers: Mapping[str, str]) -> bytes:
        """The part of a request that stays the same; made once for a client that repeats itself."""
        lines = [f"{method} {path} HTTP/1.1", f"host: {self.host}:{self.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, ""]).encode()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
