"""How an answer leaves a connection: one that is whole is written in one piece, as most are; the rest is uvicorn's."""

import logging
from functools import lru_cache
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from greenroom.doors.http.http_call import BORNE, WHOLE, Headers

logger = logging.getLogger(__name__)
_WHOLE_BYTES = 262_144
_ODD = frozenset((b"connection", b"transfer-encoding"))


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
        """The beginning of an answer of known length on a connection that goes on; None for what is left to uvicorn."""
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
