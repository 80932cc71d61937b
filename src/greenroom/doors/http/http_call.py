"""One call between the connection and the doors: counts its body and adds the headers that every response has."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable

import msgspec
from starlette.types import Message, Receive, Scope, Send

from greenroom.errors import SentenceError
from greenroom.sentences import list_wire_fields

Headers = list[tuple[bytes, bytes]]
BORNE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
        b" media-src 'self' blob:; frame-src 'self';"
        b" font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none';"
        b" form-action 'self'",
    ),
    (b"cache-control", b"no-store"),
]
"""Headers that every response has, unless it sets them itself."""
WHOLE = "greenroom.whole"
"""Where in its scope a call finds what writes an answer of JSON in one piece, given its status and body; it says False
when that cannot be, and then the answer is sent as ASGI has it. Not every server has it."""
Whole = Callable[[int, bytes], bool]
_NAMES = frozenset(name for name, _ in BORNE)
_CLOSE = (b"connection", b"close")
DRAINED_BYTES = 16_777_216
STATED_BYTES = 67_108_864
DRAIN_S = 30.0
"""How much of the body of a refused call is taken in before we hang up, and for how long: all of one that states its
length, if that is not more than STATED_BYTES; of others the beginning."""


class GuardRefused(SentenceError):
    """The guard says no, with a status and a sentence."""

    def __init__(self, status: int, key: str, retry_after_s: int | None = None, /, **params: object) -> None:
        super().__init__(key, **params)
        self.status = status
        self.retry_after_s = retry_after_s

    @classmethod
    def repeat(cls, status: int, no: SentenceError, retry_after_s: int | None = None) -> "GuardRefused":
        """What another said, with a status."""
        said = cls.__new__(cls)
        said._set_words(no.code, no.said)
        said.status, said.retry_after_s = status, retry_after_s
        return said


MOST_VALUES = 150_000
"""Of a body: JSON is decoded at a stretch, in a thread as well, which takes long for many small values and not for a
long text."""
_UPLOADS = "/api/upload"
"""Where files come in, which are not decoded."""


CountFrame = Callable[[int], None]
"""Counts the bytes of a frame; raises Refusal when they are too many."""


def has_many_values(body: bytes) -> bool:
    """Whether a body holds more values than may be, if it is JSON. Commas in texts do not count."""
    if body.count(b",") <= MOST_VALUES:
        return False
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if unescaped.count(b'"') > 4 * MOST_VALUES:  # a text as a key and another as its value
        return True
    return b"".join(unescaped.split(b'"')[::2]).count(b",") > MOST_VALUES


class HttpCall:
    """A call in progress. It ends when its body grows beyond the limit, whatever length it claimed.

    A caller without a credential does not keep its connection.
    """

    __slots__ = ("_count", "_keep", "_left", "_limit", "_parts", "_receive", "_send", "_whole", "started", "status")

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, limit: int, *, keep: bool, count: CountFrame | None = None
    ) -> None:
        self._whole: Whole | None = scope.get(WHOLE)
        if self._whole is not None:
            scope[WHOLE] = self.write_json
        self._receive = receive
        self._send = send
        self._left = self._limit = limit
        self._parts: list[bytes] | None = None if _UPLOADS in scope.get("path", "") else []
        self._keep = keep
        self._count = count
        self.started = False
        """Whether the response has started."""
        self.status = 0
        """The status of the response, once it has started."""

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            body = message.get("body", b"")
            self._left -= len(body)
            no = GuardRefused(413, "too_large.bytes", limit=self._limit) if self._left < 0 else None
            if no is None and self._has_too_many_values(body, is_last=not message.get("more_body", False)):
                no, self._left = (
                    GuardRefused(413, "too_large.values"),
                    -1,
                )
            if no is not None:
                if not self.started:
                    self.started = True
                    await send_refusal({"type": "http"}, self._send, no, self._receive, self._limit)
                return {"type": "http.disconnect"}
        elif message["type"] == "websocket.receive" and self._count is not None:
            try:
                self._count(len(message.get("text") or message.get("bytes") or ""))
            except GuardRefused as no:
                await self.send({"type": "websocket.close", "code": 1008, "reason": no.code})
                self._left = -1  # nobody receives what the door still sends
                return {"type": "websocket.disconnect", "code": 1008}
        return message

    def _has_too_many_values(self, part: bytes, *, is_last: bool) -> bool:
        """Whether the body, with this part of it, is complete and holds too many values."""
        if self._parts is None:
            return False
        if not is_last:
            self._parts.append(part)
            return False
        parts, self._parts = self._parts, None
        body = b"".join([*parts, part]) if parts else part
        return len(body) > MOST_VALUES and has_many_values(body)

    def write_json(self, status: int, body: bytes) -> bool:
        """Answer in one piece, if that can be."""
        if self._whole is None or self._left < 0 or not self._keep or not self._whole(status, body):
            return False
        self.started, self.status = True, status
        return True

    async def send(self, message: Message) -> None:
        if self._left < 0:
            return
        kind = message["type"]
        if kind == "http.response.start":
            self.started = True
            self.status = message["status"]
            message["headers"] = add_default_headers(message.get("headers", ()))
            if not self._keep:
                message["headers"].insert(0, _CLOSE)
        elif kind == "websocket.accept":
            self.started = True
        elif kind == "websocket.close" and not self.started:
            self.status = 403
        elif kind == "websocket.http.response.start":
            self.status = message["status"]
        await self._send(message)


def add_default_headers(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """A response's headers and those that every response has; its own headers take precedence."""
    own = list(given)
    names = {name.lower() for name, _ in own}
    if names.isdisjoint(_NAMES):
        return own + BORNE
    return own + [pair for pair in BORNE if pair[0] not in names]


async def send_refusal(
    scope: Scope, send: Send, no: GuardRefused, receive: Receive | None = None, taken: int = 0
) -> None:
    """Answer a refused call; a WebSocket is refused before the upgrade.

    With `receive` the connection is closed only when what the client still sends has been taken in, within limits: a
    system that closes a connection with unread bytes resets it, and the client never sees the answer. `taken` bytes of
    the body have been taken in before.
    """
    is_socket = scope["type"] == "websocket"
    if is_socket and no.status != 401:
        await send({"type": "websocket.close", "code": choose_close_code(no), "reason": no.code})
        return
    body = msgspec.json.encode({"detail": no.message, "code": no.code, **list_wire_fields(no.said)})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        _CLOSE,  # whatever else was sent on it is not looked at
    ]
    if no.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if no.retry_after_s is not None:
        headers.append((b"retry-after", str(no.retry_after_s).encode()))
    kind = "websocket.http.response" if is_socket else "http.response"  # a node must know that it is not let in
    await send({"type": f"{kind}.start", "status": no.status, "headers": add_default_headers(headers)})
    if receive is not None and not is_socket:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await _drain(receive, _choose_drain_bytes(scope) - taken)
        body = b""
    await send({"type": f"{kind}.body", "body": body})


def _choose_drain_bytes(scope: Scope) -> int:
    stated = next((value for name, value in scope.get("headers", ()) if name == b"content-length"), b"")
    length = int(stated[:15]) if stated.isdigit() else 0
    return max(DRAINED_BYTES, length) if length <= STATED_BYTES else DRAINED_BYTES


async def _drain(receive: Receive, left: int) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while left > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))


def choose_close_code(no: GuardRefused) -> int:
    """How a WebSocket is refused."""
    return {401: 4401, 503: 1012}.get(no.status, 4403)
