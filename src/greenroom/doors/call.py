"""One call between the connection and the doors: its body is counted, its answer bears what all answers bear."""

from collections.abc import Callable, Iterable

import msgspec
from starlette.types import Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]
BORNE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        b" media-src 'self'; frame-src 'self';"
        b" font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none';"
        b" form-action 'self'",
    ),
    (b"cache-control", b"no-store"),
]
"""What every answer bears, unless it says otherwise itself."""
WHOLE = "greenroom.whole"
"""Where in its scope a call finds what writes an answer of JSON in one piece, given its status and body; it says False
when that cannot be, and then the answer is sent as ASGI has it. Not every server has it."""
Whole = Callable[[int, bytes], bool]
_NAMES = frozenset(name for name, _ in BORNE)
_CLOSE = (b"connection", b"close")


class Refusal(Exception):
    """The guard says no, with a status and a sentence."""

    def __init__(self, status: int, error: str, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.retry_after_s = retry_after_s


class Call:
    """A call on its way. It ends when its body grows beyond the limit, whatever length it claimed.

    Who has shown no credential does not keep its connection.
    """

    __slots__ = ("_keep", "_left", "_limit", "_receive", "_send", "_whole", "started", "status")

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int, *, keep: bool) -> None:
        self._whole: Whole | None = scope.get(WHOLE)
        if self._whole is not None:
            scope[WHOLE] = self.whole
        self._receive = receive
        self._send = send
        self._left = self._limit = limit
        self._keep = keep
        self.started = False
        """Whether the answer has begun."""
        self.status = 0
        """The status of the answer, once it has begun."""

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                if not self.started:
                    self.started = True
                    no = Refusal(413, "too_large", f"The body is larger than {self._limit} bytes.")
                    await refuse({"type": "http"}, self._send, no)
                return {"type": "http.disconnect"}
        return message

    def whole(self, status: int, body: bytes) -> bool:
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
            message["headers"] = with_borne(message.get("headers", ()))
            if not self._keep:
                message["headers"].insert(0, _CLOSE)
        elif kind == "websocket.accept":
            self.started = True
        elif kind == "websocket.close" and not self.started:
            self.status = 403
        await self._send(message)


def with_borne(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """A response's headers and those that every response bears; the response's own word goes first."""
    own = list(given)
    names = {name.lower() for name, _ in own}
    if names.isdisjoint(_NAMES):
        return own + BORNE
    return own + [pair for pair in BORNE if pair[0] not in names]


async def refuse(scope: Scope, send: Send, no: Refusal) -> None:
    """Answer a refused call; a WebSocket is refused before the upgrade."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": close_code(no), "reason": no.error})
        return
    body = msgspec.json.encode({"detail": no.message, "code": no.error})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        _CLOSE,  # whatever else was sent on it is not looked at
    ]
    if no.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if no.retry_after_s is not None:
        headers.append((b"retry-after", str(no.retry_after_s).encode()))
    await send({"type": "http.response.start", "status": no.status, "headers": with_borne(headers)})
    await send({"type": "http.response.body", "body": body})


def close_code(no: Refusal) -> int:
    """How a WebSocket is told."""
    return {401: 4401, 503: 1012}.get(no.status, 4403)
