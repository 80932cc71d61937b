"""One HTTP request of an MCP client, and the ways to respond to it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

import anyio
import mcp_types as types
import msgspec
from starlette.types import Message, Receive, Scope, Send

from greenroom.doors.http.http_call import WHOLE, Whole

SESSION_ID = b"mcp-session-id"
JSON = b"application/json"
EVENTS = b"text/event-stream"
_ACCEPTED = {JSON: (JSON, b"application/*", b"*/*"), EVENTS: (EVENTS, b"text/*", b"*/*")}
"""What a client may name to take an answer of a media type."""
RequestId = int | str
Headers = list[tuple[bytes, bytes]]
encode = msgspec.json.Encoder().encode


class Params(msgspec.Struct):
    """Those parameters that this door looks at."""

    meta: Any = msgspec.field(name="_meta", default=None)
    name: Any = None
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    request_id: Any = msgspec.field(name="requestId", default=None)


class RpcMessage(msgspec.Struct):
    """A request, a notification (without id) or a response (without method)."""

    jsonrpc: Literal["2.0"]
    id: RequestId | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: Params | None = None


decode_message = msgspec.json.Decoder(RpcMessage).decode


class Rejected(Exception):
    """The request is answered with this status and JSON-RPC error, and nothing has happened."""

    def __init__(self, status: int, code: int, message: str, data: Any = None, headers: Headers | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.data = data
        self.headers = headers


class ClientGone(Exception):
    """The client went away before it had sent its request."""


def build_error_body(id: object, code: int, message: str, data: Any = None) -> bytes:
    """A JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return encode({"jsonrpc": "2.0", "id": id, "error": error})


@lru_cache(64)
def _read_media_types(accept: bytes) -> frozenset[bytes]:
    return frozenset([part.partition(b";")[0].strip().lower() for part in accept.split(b",")])


class Exchange:
    """A request and its response: JSON, or a stream of events if one was started."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.request_id: RequestId | None = None
        """The JSON-RPC id, as soon as it is known."""
        self.is_gone = False
        self.is_stream = False
        self._headers: Mapping[bytes, bytes] = dict(scope["headers"])

    def get_header(self, name: bytes) -> str | None:
        """A header's value."""
        value = self._headers.get(name)
        return None if value is None else value.decode("latin-1")

    def has_duplicates(self) -> bool:
        """Some header occurs more than once."""
        return len(self._headers) < len(self.scope["headers"])

    def accepts(self, kind: bytes) -> bool:
        """Whether the client takes an answer of this media type."""
        return not _read_media_types(self._headers.get(b"accept", b"")).isdisjoint(_ACCEPTED[kind])

    def is_json(self) -> bool:
        """Whether the client says that it sends JSON; no web page can, without being asked about its origin."""
        return self._headers.get(b"content-type", b"").partition(b";")[0].strip().lower() == JSON

    async def read_json(self, max_bytes: int) -> bytes:
        """The whole body, which says that it is JSON."""
        if not self.is_json():
            raise Rejected(415, types.INVALID_REQUEST, "Unsupported Media Type: Content-Type must be application/json")
        body = await self._read_body(max_bytes)
        if body is None:
            raise Rejected(413, types.INVALID_REQUEST, f"The body is larger than {max_bytes} bytes")
        return body

    async def read_message(self, max_bytes: int) -> tuple[bytes, RpcMessage]:
        """What the client has posted, as it came and decoded."""
        body = await self.read_json(max_bytes)
        try:
            message = decode_message(body)
        except msgspec.ValidationError as error:
            raise Rejected(400, types.INVALID_REQUEST, f"Invalid request: {error}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Rejected(400, types.PARSE_ERROR, f"Parse error: {error}") from error
        if message.id is message.method is msgspec.UNSET:
            raise Rejected(400, types.INVALID_REQUEST, "Invalid request: neither id nor method")
        if message.id is not msgspec.UNSET:
            self.request_id = message.id
        return body, message

    async def _read_body(self, limit: int) -> bytes | None:
        length = self._headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            return None
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > limit:
                return None
            if not message.get("more_body", False):
                return b"".join((*chunks, chunk)) if chunks else chunk
            chunks.append(chunk)

    def build_replay(self, body: bytes) -> Receive:
        """A receive that gives a body which was read already."""
        unread = [body]

        async def receive() -> Message:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            return await self.receive()

        return receive

    async def wait_until_gone(self) -> None:
        """Wait until the client goes away."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.is_gone = True

    async def cancel_when_gone(self, scope: anyio.CancelScope) -> None:
        """Wait until the client disconnects, and then cancel its call."""
        await self.wait_until_gone()
        scope.cancel()

    async def reject(self, no: Rejected) -> None:
        """Answer that the request is not taken."""
        await self.reply(no.status, build_error_body(self.request_id, no.code, no.message, no.data), no.headers)

    async def reply(self, status: int, body: bytes = b"", headers: Headers | None = None) -> None:
        """Answer with JSON, or as the last event of a stream that was started."""
        if self.is_stream:
            await self.send_event(body)
            await self.end_stream()
            return
        whole: Whole | None = self.scope.get(WHOLE)
        if whole is not None and body and not headers and whole(status, body):
            return
        kind = [(b"content-type", JSON)] if body else []
        length = (b"content-length", str(len(body)).encode())
        await self.send({"type": "http.response.start", "status": status, "headers": [*kind, length, *(headers or ())]})
        await self.send({"type": "http.response.body", "body": body})

    async def begin_stream(self) -> None:
        """Answer with a stream of events, unless one was started."""
        if self.is_stream:
            return
        headers = [
            (b"content-type", EVENTS),
            (b"cache-control", b"no-cache, no-transform"),
            (b"x-accel-buffering", b"no"),
        ]
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        # Only now: a send that is cancelled has written nothing.
        self.is_stream = True

    async def send_event(self, body: bytes, event: bytes = b"message") -> None:
        """One event on the stream, by default a JSON-RPC message."""
        await self.send_chunk(b"event: " + event + b"\r\ndata: " + body + b"\r\n\r\n")

    async def send_ping(self, _waited_s: float = 0) -> None:
        """A comment, so that no proxy takes the stream for dead."""
        await self.send_chunk(b": ping\r\n\r\n")

    async def end_stream(self) -> None:
        """The stream's regular end."""
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_chunk(self, chunk: bytes) -> None:
        """Bytes on the stream as they are."""
        await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
