"""The guard in front of every door: host, origin, credential, size and rate, before anything is parsed."""

import asyncio
import logging
import re
import time
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from greenroom.doors.credentials import Credentials, Wrong
from greenroom.doors.endpoint import PRINCIPAL, PUBLIC, TOKEN, Endpoint
from greenroom.doors.origins import Origins
from greenroom.doors.page import is_public
from greenroom.hub import Hub
from greenroom.nouns.access.model import Principal

logger = logging.getLogger(__name__)
_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"forwarded", b"x-real-ip"})
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        b" font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none';"
        b" form-action 'self'",
    ),
    (b"cache-control", b"no-store"),
]
_FIRST_FRAME = frozenset({"/ws"})
"""WebSockets whose clients know no headers: a call without a credential is let in as nobody, to log in by a frame."""
_MAX_HEADERS = 100
_MAX_HEAD_BYTES = 32_768
_OWN = frozenset(name for name, _ in _HEADERS)


class Refusal(Exception):
    """The guard says no, with a status and a sentence."""

    def __init__(self, status: int, error: str, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.retry_after_s = retry_after_s


_FAILED = Refusal(500, "internal", "Something went wrong inside the hub. Its log says what; try again.")
_ENDED = Refusal(401, "credential_ended", "This credential has been ended.")
_STOPPING = Refusal(503, "stopping", "The hub is stopping; try again when it is back.", 1)


def _is_shape(endpoint: Endpoint) -> bool:
    """Whether a public endpoint has a path with names in it."""
    return endpoint.needs == PUBLIC and "{" in endpoint.path


class Guard:
    """Wraps the application; what gets through has a principal in its scope, or is declared public."""

    def __init__(self, app: ASGIApp, hub: Hub, origins: Origins, endpoints: Iterable[Endpoint]) -> None:
        self._app = app
        self._hub = hub
        self._origins = origins
        self._credentials = Credentials(hub)
        self._public = frozenset((e.method, e.path) for e in endpoints if e.needs == PUBLIC)
        self._public_shapes = [
            (e.method, re.compile(re.sub(r"\{\w+\}", "[^/]+", e.path))) for e in endpoints if _is_shape(e)
        ]
        self._limits = {e.path: e.max_bytes for e in endpoints if e.max_bytes is not None}
        self.live = LiveCalls()
        hub.log.subscribe(self.live.on_commit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            principal = self._admit(scope)
        except Refusal as no:
            await refuse(scope, send, no)
            return
        except Exception:  # a database that cannot be read proves nobody
            logger.exception("the guard failed")
            await refuse(scope, send, _FAILED)
            return
        if scope["type"] == "http":
            limit = self._limits.get(scope["path"], self._hub.settings.max_body_bytes)
            counted = CountedBody(receive, send, limit)
            receive, send = counted.receive, counted.send
        if principal is None:
            await self._app(scope, receive, WatchedSend(send, keep=False))
            return
        scope[PRINCIPAL] = principal
        await self.live.run(principal, self._app, scope, receive, send)

    def _is_public_shape(self, method: str, path: str) -> bool:
        return any(method == known and shape.fullmatch(path) for known, shape in self._public_shapes)

    def _admit(self, scope: Scope) -> Principal | None:
        """Who calls, None on a public endpoint; raises Refusal."""
        headers = Headers(scope["headers"])
        if len(scope["headers"]) > _MAX_HEADERS or headers.size + len(scope["query_string"]) > _MAX_HEAD_BYTES:
            raise Refusal(431, "headers_too_large", f"Send at most {_MAX_HEADERS} headers, {_MAX_HEAD_BYTES} bytes.")
        if not self._origins.knows_host(headers.all(b"host")):
            raise Refusal(421, "unknown_host", "This hub does not answer to that name: see the setting allowed_hosts.")
        if not self._hub.settings.behind_proxy and not _FORWARDED.isdisjoint(headers.names):
            raise Refusal(400, "forwarded", "Forwarded headers are refused: set behind_proxy if a proxy is meant.")
        origin = headers.all(b"origin")
        if origin and not self._origins.knows_origin(origin):
            raise Refusal(403, "foreign_origin", "A page of another origin may not call this hub.")
        if scope["type"] == "http":
            length = headers.one(b"content-length") or b"0"
            limit = self._limits.get(scope["path"], self._hub.settings.max_body_bytes)
            if not length.isdigit() or int(length[:15]) > limit:
                raise Refusal(413, "too_large", f"The body is larger than {limit} bytes.")
        called = (scope.get("method", "GET"), scope["path"])
        if called in self._public or (
            scope["type"] == "http" and (is_public(*called) or self._is_public_shape(*called))
        ):
            return None
        try:
            principal, token = self._credentials.prove(scope, headers, origin_known=bool(origin))
        except Wrong as wrong:
            if wrong.error == "credential_missing" and scope["type"] == "websocket" and scope["path"] in _FIRST_FRAME:
                return None
            raise Refusal(wrong.status, wrong.error, str(wrong), wrong.retry_after_s) from None
        scope[TOKEN] = token
        return principal


class Headers:
    """A request's headers by name."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = list(raw)
        self.names = {name for name, _ in self._raw}
        self.size = sum([len(name) + len(value) for name, value in self._raw])

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._raw if key == name] if name in self.names else []

    def one(self, name: bytes) -> bytes | None:
        values = self.all(name)
        return values[0] if len(values) == 1 else None


class LiveCalls:
    """Calls under way by credential, so that a revocation reaches them at once."""

    def __init__(self) -> None:
        self._by_credential: dict[str, set[asyncio.Task[Any]]] = {}
        self._ended: set[asyncio.Task[Any]] = set()

    def on_commit(self, commit: Any) -> None:
        for change in commit.changes:
            if change.table.name == "credential" and change.row is not None and change.row.revoked_at is not None:
                self._end(change.row.id)

    def _end(self, credential: str) -> None:
        for task in self._by_credential.get(credential, ()):
            self._ended.add(task)
            task.cancel()

    async def run(self, by: Principal, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one call, and end it when its credential ends."""
        task = asyncio.current_task()
        key = by.credential or by.id
        assert task is not None  # noqa: S101 ASGI calls run in tasks
        calls = self._by_credential.setdefault(key, set())
        calls.add(task)
        expiry = None
        if by.expires_at is not None:
            left_s = max(0.0, by.expires_at / 1000 - time.time())
            expiry = asyncio.get_running_loop().call_later(left_s, self._end, key)
        watched = WatchedSend(send)
        try:
            await app(scope, receive, watched)
        except asyncio.CancelledError:
            task.uncancel()
            await _end_early(scope, watched, _ENDED if task in self._ended else _STOPPING)
        finally:
            if expiry is not None:
                expiry.cancel()
            self._ended.discard(task)
            calls.discard(task)
            if not calls:
                self._by_credential.pop(key, None)


async def _end_early(scope: Scope, send: "WatchedSend", why: Refusal) -> None:
    """Tell the caller as far as can be; an answer that has begun is cut off, which no client takes for its end."""
    if scope["type"] == "websocket" and send.started:
        await send({"type": "websocket.close", "code": _close_code(why), "reason": why.error})
    elif not send.started:
        await refuse(scope, send, why)


class WatchedSend:
    """Passes a response on, with the headers that every response bears, and knows whether it has begun.

    Who has shown no credential does not keep its connection.
    """

    __slots__ = ("_keep", "_send", "started")

    def __init__(self, send: Send, *, keep: bool = True) -> None:
        self._send = send
        self._keep = keep
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message["headers"] = with_headers(message.get("headers", []))
            if not self._keep:
                message["headers"].append((b"connection", b"close"))
        elif message["type"] == "websocket.accept":
            self.started = True
        await self._send(message)


def with_headers(given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A response's headers and those that every response bears; the response's own word goes first."""
    own = list(given)
    names = {name.lower() for name, _ in own}
    if names.isdisjoint(_OWN):
        return own + _HEADERS
    return own + [pair for pair in _HEADERS if pair[0] not in names]


class CountedBody:
    """Ends a request whose body grows beyond the limit, whatever length it claimed."""

    __slots__ = ("_left", "_limit", "_receive", "_send", "_started")

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._left = self._limit = limit
        self._started = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                if not self._started:
                    no = Refusal(413, "too_large", f"The body is larger than {self._limit} bytes.")
                    await refuse({"type": "http"}, self._send, no)
                self._started = True
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if self._left < 0 and self._started:
            return
        self._started = True
        await self._send(message)


async def refuse(scope: Scope, send: Send | WatchedSend, no: Refusal) -> None:
    """Answer a refused call; a WebSocket is refused before the upgrade."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _close_code(no), "reason": no.error})
        return
    body = msgspec.json.encode({"detail": no.message, "code": no.error})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # whatever else was sent on it is not looked at
    ]
    if no.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if no.retry_after_s is not None:
        headers.append((b"retry-after", str(no.retry_after_s).encode()))
    await send({"type": "http.response.start", "status": no.status, "headers": with_headers(headers)})
    await send({"type": "http.response.body", "body": body})


def _close_code(no: Refusal) -> int:
    return {401: 4401, 503: 1012}.get(no.status, 4403)
