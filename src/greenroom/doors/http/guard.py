"""The guard in front of every door: host, origin, credential, size and rate, before anything is parsed."""

import asyncio
import logging
import re
import time
from collections.abc import Iterable
from itertools import chain
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from greenroom.doors.http.credentials import SUBPROTOCOL, CredentialRefused, Credentials, read_peer_address
from greenroom.doors.http.errors import choose_unavailable_status
from greenroom.doors.http.http_call import CountFrame, GuardRefused, HttpCall, choose_close_code, send_refusal
from greenroom.doors.http.origins import Origins
from greenroom.doors.http.routes import PLACE, PRINCIPAL, PUBLIC, TOKEN, Endpoint, RouteTable
from greenroom.doors.http.url_credentials import is_allowed_at, take_token
from greenroom.doors.page import is_for_sandbox, is_public, show_not_found, wants_page
from greenroom.errors import Unavailable
from greenroom.log.model import Commit
from greenroom.rules.access.model import CREDENTIALS, Principal
from greenroom.services.hub import Hub
from greenroom.services.refusal_recorder import RECORDED

logger = logging.getLogger(__name__)
_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"forwarded", b"x-real-ip"})
_FIRST_FRAME = frozenset({"/ws"})
"""WebSockets whose clients know no headers: without a credential they are accepted as nobody, to log in by a frame."""
_MAX_HEADERS = 100
_MAX_HEAD_BYTES = 32_768
_ID = re.compile(r"[a-z]{3,4}_[0-9a-z]{26}")
_MOST_IDS = 3
_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 413: "too_large", 429: "limited"}
_FAILED = GuardRefused(500, "internal")
_ENDED = GuardRefused(401, "credential_ended")
_STOPPING = GuardRefused(503, "stopping", 1)


class Guard:
    """Wraps the application; what gets through has a principal in its scope, or is declared public."""

    def __init__(self, app: ASGIApp, hub: Hub, origins: Origins, endpoints: Iterable[Endpoint]) -> None:
        self._app = app
        self._hub = hub
        self._settings = hub.settings
        self._origins = origins
        self._credentials = Credentials(hub)
        self._paths = RouteTable(endpoints)
        self._refusals = hub.refusals
        self.live = LiveCalls(hub)
        hub.log.subscribe(self.live.on_commit, CREDENTIALS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            principal, limit = self._admit(scope)
        except GuardRefused as no:
            self._record_refusal("", scope, no.status, no.code)
            if no.status == 401 and wants_page(scope) and scope.get(PLACE) is None:  # a browser, where nothing is
                call = HttpCall(scope, receive, send, 0, keep=False)
                await show_not_found(self._hub, scope)(scope, call.receive, call.send)
            else:
                await send_refusal(scope, send, no, receive)
            return
        except Unavailable as no:
            status, retry_after_s = choose_unavailable_status(no)
            await send_refusal(scope, send, GuardRefused.repeat(status, no, retry_after_s))
            return
        except Exception:  # a database that cannot be read authenticates nobody
            logger.exception("the guard failed")
            await send_refusal(scope, send, _FAILED)
            return
        count = None
        if scope["type"] == "websocket":
            count = None if principal is None else self._build_frame_counter(principal)
            send = _wrap_send(scope, send)
        call = HttpCall(scope, receive, send, limit, keep=principal is not None, count=count)
        if principal is None:
            await self._app(scope, call.receive, call.send)
        else:
            scope[PRINCIPAL] = principal
            await self.live.run_call(principal, self._app, scope, call)
        if call.status in RECORDED:  # here the answers of all doors pass
            self._record_refusal(principal.id if principal else "", scope, call.status)

    def _record_refusal(self, by: str, scope: Scope, status: int, code: str = "") -> None:
        """Into the audit. Of a path only what we call something ourselves: anything else might be a secret."""
        place = scope[PLACE] if PLACE in scope else self._paths.get(scope["path"])
        end = None if place is None else next(iter(place.ends.values()))
        path = "*" if end is None else end[0].path
        ids = [] if place is None else [value for value in place.values if _ID.fullmatch(value)]
        action = " ".join((scope.get("method", "WS"), path, *ids[:_MOST_IDS]))
        client = scope.get("client")
        peer = str(client[0]) if client else ""
        self._refusals.note(by=by, peer=peer, action=action, code=code or _CODES.get(status, "refused"), status=status)

    def _admit(self, scope: Scope) -> tuple[Principal | None, int]:
        """The caller, None on a public endpoint, and the largest body it may send; raises Refusal."""
        headers = Headers(scope["headers"])
        token = take_token(scope) if self._settings.credential_in_url else None
        if len(scope["headers"]) > _MAX_HEADERS or headers.size() + len(scope["query_string"]) > _MAX_HEAD_BYTES:
            raise GuardRefused(431, "headers_too_large", headers=_MAX_HEADERS, bytes=_MAX_HEAD_BYTES)
        if not self._origins.knows_host(headers.all(b"host")):
            raise GuardRefused(421, "unknown_host")
        if not self._settings.behind_proxy and not _FORWARDED.isdisjoint(headers.names):
            raise GuardRefused(400, "forwarded")
        origin = headers.all(b"origin")
        if origin and not self._origins.allows_origin(origin) and not is_for_sandbox(scope):
            raise GuardRefused(403, "foreign_origin")
        limit, size = self._settings.max_body_bytes, 0
        if scope["type"] == "http":
            endpoint = self._get_endpoint(scope)
            if endpoint is not None and endpoint.max_bytes is not None:
                limit = endpoint.max_bytes
            length = headers.one(b"content-length") or b"0"
            if not length.isdigit() or int(length[:15]) > limit:
                raise GuardRefused(413, "too_large.bytes", limit=limit)
            size = limit if b"transfer-encoding" in headers.names else int(length)
            path_is_open = is_public(scope["method"], scope["path"]) if endpoint is None else endpoint.needs == PUBLIC
            if path_is_open:
                return None, limit
        try:
            if token is not None:
                if not is_allowed_at(scope["path"]):
                    raise GuardRefused(403, "not_by_url")
                principal, scope[TOKEN] = self._credentials.prove_token(token, read_peer_address(scope)), token
            if token is None or b"x-agent-token" in headers.names:  # which says who acts
                known = bool(origin) and (self._origins.knows_origin(origin) or is_for_sandbox(scope))
                principal, scope[TOKEN] = self._credentials.prove(scope, headers, origin_known=known)
            self._credentials.need_bytes(principal, size)
        except CredentialRefused as wrong:
            if wrong.code == "credential_missing" and scope["type"] == "websocket" and scope["path"] in _FIRST_FRAME:
                return None, limit
            raise GuardRefused.repeat(wrong.status, wrong, wrong.retry_after_s) from None
        return principal, limit

    def _build_frame_counter(self, principal: Principal) -> CountFrame | None:
        """What counts the frames of a socket for its credential. The hub reads from nodes at a pace of their own."""
        if principal.kind == "node":
            return None

        def count(size: int) -> None:
            try:
                self._credentials.need_bytes(principal, size)
            except CredentialRefused as wrong:
                raise GuardRefused.repeat(wrong.status, wrong) from None

        return count

    def _get_endpoint(self, scope: Scope) -> Endpoint | None:
        """The endpoint that is called, if it is one; where it was found is kept for the routes."""
        place = scope[PLACE] = self._paths.get(scope["path"])
        end = None if place is None else place.ends.get(scope["method"])
        return None if end is None else end[0]


def _wrap_send(scope: Scope, send: Send) -> Send:
    """What sends, and chooses our subprotocol where a page has offered it: browsers hang up when none is chosen."""
    if SUBPROTOCOL not in scope.get("subprotocols", ()):
        return send

    async def choose(message: Message) -> None:
        await send({**message, "subprotocol": SUBPROTOCOL} if message["type"] == "websocket.accept" else message)

    return choose


class Headers:
    """A request's headers by name."""

    __slots__ = ("_raw", "is_any_repeated", "names")

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw
        self.names = dict(raw)
        """Each name, with its last value."""
        self.is_any_repeated = len(self.names) < len(raw)

    def size(self) -> int:
        return sum(map(len, chain.from_iterable(self._raw)))

    def all(self, name: bytes) -> list[bytes]:
        if name not in self.names:
            return []
        if not self.is_any_repeated:
            return [self.names[name]]
        return [value for key, value in self._raw if key == name]

    def one(self, name: bytes) -> bytes | None:
        values = self.all(name)
        return values[0] if len(values) == 1 else None


class LiveCalls:
    """Calls under way by credential, so that a revocation reaches them at once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._by_credential: dict[str, set[asyncio.Task[Any]]] = {}
        self._ended: set[asyncio.Task[Any]] = set()

    def on_commit(self, commit: Commit) -> None:
        for change in commit.changes:
            if change.row is not None and change.row.revoked_at is not None:
                self._cancel_calls(change.row.id)

    def _cancel_calls(self, credential: str) -> None:
        for task in self._by_credential.get(credential, ()):
            self._ended.add(task)
            task.cancel()

    async def run_call(self, by: Principal, app: ASGIApp, scope: Scope, call: HttpCall) -> None:
        """Run one call, and end it when its credential ends."""
        task = asyncio.current_task()
        key = by.credential or by.id
        assert task is not None  # noqa: S101 ASGI calls run in tasks
        calls = self._by_credential.setdefault(key, set())
        most = self._hub.settings.max_calls_per_credential
        if len(calls) >= most:
            self._hub.limited["max_calls_per_credential"] += 1
            no = GuardRefused(429, "too_many_calls", 5, most=most)
            await send_refusal(scope, call.send, no, call.receive)
            return
        calls.add(task)
        expiry = None
        if by.expires_at is not None:
            left_s = max(0.0, by.expires_at / 1000 - time.time())
            expiry = asyncio.get_running_loop().call_later(left_s, self._cancel_calls, key)
        try:
            await app(scope, call.receive, call.send)
        except asyncio.CancelledError:
            task.uncancel()
            await _end_early(scope, call, _ENDED if task in self._ended else _STOPPING)
        finally:
            if expiry is not None:
                expiry.cancel()
            self._ended.discard(task)
            calls.discard(task)
            if not calls:
                self._by_credential.pop(key, None)


async def _end_early(scope: Scope, call: HttpCall, why: GuardRefused) -> None:
    """Send the refusal if possible. A response that has begun is cut off, which no client takes for its end."""
    if scope["type"] == "websocket" and call.started:
        await call.send({"type": "websocket.close", "code": choose_close_code(why), "reason": why.code})
    elif not call.started:
        await send_refusal(scope, call.send, why)
