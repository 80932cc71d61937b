"""One HTTP connection: limits on what arrives before the caller is authenticated, and how responses are written.

uvicorn waits forever for a request that does not come, and keeps whatever is sent instead of one. An answer that is
whole is written in one piece, as most are; uvicorn writes the rest.
"""

import asyncio
import logging
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from greenroom.doors.http.http_call import BORNE, WHOLE, Headers

logger = logging.getLogger(__name__)
HEAD_BYTES = 65_536
HEAD_S = 10.0
PACE_S = 10.0
PACE_BYTES = 10_240
UNWANTED_BYTES = 1_048_576
_WHOLE_BYTES = 262_144
_ODD = frozenset((b"connection", b"transfer-encoding"))


class PendingConnections:
    """Connections that have not sent a request yet. When there are too many the oldest has to go."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: dict[Connection, None] = {}

    def enter(self, connection: "Connection") -> None:
        self._waiting[connection] = None
        if len(self._waiting) > self._limit:
            oldest = next(iter(self._waiting))
            self.leave(oldest)
            oldest.transport.abort()

    def leave(self, connection: "Connection") -> None:
        self._waiting.pop(connection, None)


class Connection(HttpToolsProtocol):
    """uvicorn's connection, which gives up on a peer that sends its headers or its body too slowly."""

    def __init__(self, newcomers: PendingConnections, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._newcomers = newcomers
        self._awaits = "head"
        self._bytes = 0
        """How much has arrived of what is expected; of a body, since the last measurement."""
        self._unwanted = 0
        """How much has come of a body after the answer."""
        self._timed: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._idle_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._newcomers.enter(self)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._leave()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._awaits == "head":
            self._bytes += len(data)
            if self._bytes > HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if self._awaits != self._timed:
            self._start_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._awaits, self._bytes = "head", 0

    def on_headers_complete(self) -> None:
        self._newcomers.leave(self)
        self._awaits, self._bytes, self._unwanted = "body", 0, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes += len(body)
        if self.cycle.response_complete:
            self._unwanted += len(body)
            if self._unwanted > UNWANTED_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._awaits = "nothing"
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """As uvicorn's, except for the idle time-out of a connection: its timer is not set for each request."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._start_idle_timer(self.timeout_keep_alive)

    def _unset_keepalive_if_required(self) -> None:
        self._idle_since = None

    def _start_idle_timer(self, left_s: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(left_s, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        if self._idle_since is None:
            return
        left_s = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left_s > 0:
            self._start_idle_timer(left_s)
        else:
            super().timeout_keep_alive_handler()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        task = self.loop.create_task(ResponseWriter(cycle).run(app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _start_timer(self) -> None:
        """Start the timer for what is expected now; a request that arrives in one piece is never timed."""
        if self._timer is not None:
            self._timer.cancel()
        self._timed, self._timer = self._awaits, None
        if self._awaits == "head":
            self._timer = self.loop.call_later(HEAD_S, self._refuse, HTTPStatus.REQUEST_TIMEOUT)
        elif self._awaits == "body":
            self._timer = self.loop.call_later(PACE_S, self._check_pace)

    def _check_pace(self) -> None:
        """A body that is not read by us has all the time; one that we wait for has to keep a pace."""
        if not self.flow.read_paused and self._bytes < PACE_BYTES:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
            return
        self._bytes = 0
        self._start_timer()

    def _refuse(self, status: HTTPStatus) -> None:
        """Say why if no answer is under way, and hang up."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()

    def _leave(self) -> None:
        self._newcomers.leave(self)
        self._awaits = "nothing"
        self._start_timer()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None


def encode_headers(headers: Headers) -> bytes:
    """Headers as they go over the wire. None of them can bring a line of its own along."""
    lines = b"".join([b"%b: %b\r\n" % pair for pair in headers])
    if lines.count(b"\n") != len(headers) or lines.count(b"\r") != len(headers) or b"\0" in lines:
        raise ValueError("a header holds a character that none can hold")
    return lines


_BORNE = encode_headers(BORNE)


@lru_cache(64)
def _build_json_head(status: int, given: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """The head of an answer of JSON up to its length. `given` are uvicorn's, the date above all: new once a second."""
    return (
        STATUS_LINE[status] + encode_headers([*given, *BORNE]) + b"content-type: application/json\r\ncontent-length: "
    )


class BufferedHead(NamedTuple):
    """The beginning of an answer, held back until its body is there: as it came, and as it goes over the wire."""

    start: Message
    head: bytes
    length: int


class ResponseWriter:
    """The answer to one request."""

    __slots__ = ("_cycle", "_held")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._held: BufferedHead | None = None

    async def run(self, app: ASGIApp) -> None:
        """Have the request answered. An answer that stays unfinished is cut off, and its connection with it."""
        cycle = self._cycle
        scope: Any = cycle.scope
        scope[WHOLE] = self.write_json
        try:
            await app(scope, cycle.receive, self.send)  # type: ignore[arg-type]
        except Exception:
            logger.exception("a call failed outside of its door")
        finally:
            if cycle.response_started and not cycle.response_complete:
                cycle.transport.close()
            elif not cycle.response_started and not cycle.disconnected:
                await cycle.send_500_response()
            cycle.on_response = _do_nothing
            del scope[WHOLE]  # all that refers to itself would be left to the collector of garbage

    def write_json(self, status: int, body: bytes) -> bool:
        """Write an answer of JSON in one piece; False when it has to go the long way."""
        cycle = self._cycle
        if cycle.response_started or self._held is not None or len(body) > _WHOLE_BYTES:
            return False
        if not cycle.keep_alive or cycle.scope["method"] == "HEAD":
            return False
        head = _build_json_head(status, tuple(cycle.default_headers))
        return self._write(b"%b%d\r\n\r\n%b" % (head, len(body), body))

    async def send(self, message: Message) -> None:
        cycle, held = self._cycle, self._held
        if held is not None:
            self._held = None
            if self._write_whole(held, message):
                return
            await cycle.send(held.start)  # type: ignore[arg-type]
        elif message["type"] == "http.response.start" and not cycle.response_started:
            self._held = self._buffer_head(message)
            if self._held is not None:
                return
        await cycle.send(message)  # type: ignore[arg-type]

    def _buffer_head(self, start: Message) -> BufferedHead | None:
        """The head of a response of known length on a connection that stays open; None for what uvicorn handles."""
        cycle, headers = self._cycle, start["headers"]
        if not cycle.keep_alive or cycle.scope["method"] == "HEAD":
            return None
        own = headers[: -len(BORNE)] if headers[-len(BORNE) :] == BORNE else headers
        length = -1
        for name, value in own:
            if name == b"content-length":
                length = int(value)
            elif name in _ODD:
                return None
        if not 0 <= length <= _WHOLE_BYTES:
            return None
        lines = encode_headers(cycle.default_headers + own)
        tail = b"\r\n" if own is headers else _BORNE + b"\r\n"
        return BufferedHead(start, STATUS_LINE[start["status"]] + lines + tail, length)

    def _write_whole(self, held: BufferedHead, message: Message) -> bool:
        body = message.get("body", b"")
        if message.get("more_body") or len(body) != held.length:
            return False
        return self._write(held.head + body)

    def _write(self, answer: bytes) -> bool:
        cycle = self._cycle
        if cycle.disconnected or cycle.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        cycle.transport.write(answer)
        cycle.message_event.set()
        cycle.on_response()
        return True


def _do_nothing() -> None:
    """Nothing follows an answer any more."""
