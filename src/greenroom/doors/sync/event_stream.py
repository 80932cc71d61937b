"""`GET /events`: the events of the bus as SSE, from where a client left off, then live."""

import asyncio
import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from greenroom.doors.http.frame_queue import SEND_S, FrameQueue
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.sync.bus_events import BusEvent, build_bus_event, build_signal_event
from greenroom.errors import Refused
from greenroom.log.model import Commit
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub

OUTBOX_BYTES = 4 << 20
MOST_STREAMS = 1000
"""For one principal."""
_QUIET_S = 15.0
_BATCH = 200
_CHUNK = 65_536
_PLACE = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,3}))?")
_COMMENT = b":\n"
"""Without an empty line, so that no client takes it for an event."""
Place = tuple[int, int]
"""A seq, and how many frames of its event have been seen beyond the first."""


class EventSubscriber:
    """A client that gets events after a seq."""

    __slots__ = ("by", "outbox", "seq")

    def __init__(self, by: Principal) -> None:
        self.by = by
        self.seq = 0
        self.outbox: FrameQueue[bytes] = FrameQueue(OUTBOX_BYTES)


class EventStreams:
    """All event streams of the hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._live: dict[EventSubscriber, None] = {}
        self._open: dict[EventSubscriber, None] = {}
        hub.log.subscribe(self._on_commit)
        hub.signals.listen(self._on_signal)

    def need_room(self, by: Principal) -> None:
        """Refuse whoever has too many streams open."""
        if sum(listener.by.id == by.id for listener in self._open) >= MOST_STREAMS:
            raise Refused("too_many_streams", "limited", limit=MOST_STREAMS)

    def open(self, by: Principal) -> EventSubscriber:
        """A new listener, which gets nothing yet."""
        listener = EventSubscriber(by)
        self._open[listener] = None
        return listener

    def start_live(self, listener: EventSubscriber, seq: int) -> None:
        """From now on the listener gets everything after this seq."""
        listener.seq = seq
        self._live[listener] = None

    def close(self, listener: EventSubscriber) -> None:
        self._open.pop(listener, None)
        self._live.pop(listener, None)

    def _on_commit(self, commit: Commit) -> None:
        if self._live:
            rows = self.hub.rows
            self._send([told for record in commit.records if (told := build_bus_event(rows, record)) is not None])

    def _on_signal(self, kind: SignalKind, payload: Any) -> None:
        if kind == "hub.stopping":
            for listener in self._open:
                listener.outbox.end()
        elif self._live and (told := build_signal_event(self.hub.rows, kind, payload)) is not None:
            for listener in self._live:
                if told.is_for(self.hub.rows, listener.by):
                    listener.outbox.put_droppable((told.data, len(told.data)))

    def _send(self, news: list[BusEvent]) -> None:
        """Send the same bytes to all clients that may see the same."""
        made: dict[tuple[int, ...], list[tuple[bytes, int]]] = {}
        for listener in self._live:
            heard = tuple(
                place
                for place, told in enumerate(news)
                if told.seq > listener.seq and told.is_for(self.hub.rows, listener.by)
            )
            if heard:
                ready = made.get(heard)
                if ready is None:
                    chunks = _join_chunks(news[place].data for place in heard)
                    ready = made[heard] = [(chunk, len(chunk)) for chunk in chunks]
                listener.outbox.put(*ready)


class EventStream(Response):
    """One client's stream, written to ASGI as it comes."""

    def __init__(self, events: EventStreams, by: Principal, start: Place | None) -> None:
        super().__init__()
        self._events = events
        self._by = by
        self._start = start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        listener = self._events.open(self._by)
        try:
            head = self._events.hub.store.head()
            replay = self._start is not None and self._start[0] <= head
            if not replay:
                self._events.start_live(listener, head)
            await send({"type": "http.response.start", "status": 200, "headers": _build_headers(head)})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body"})
                return
            async with asyncio.TaskGroup() as tasks:
                watcher = tasks.create_task(_watch(listener, receive))
                try:
                    with contextlib.suppress(TimeoutError, OSError):  # it does not read, or it has gone
                        await _write(send, _COMMENT)
                        if replay and self._start is not None:
                            await self._replay(listener, self._start, send)
                        await _pass_on(listener, send)
                finally:
                    watcher.cancel()
        finally:
            self._events.close(listener)

    async def _replay(self, listener: EventSubscriber, start: Place, send: Send) -> None:
        """Send what the log holds since `start`. Nothing is awaited between its last word and going live."""
        store, rows = self._events.hub.store, self._events.hub.rows
        seq, frames_seen = start
        after = max(0, seq - 1)
        while not listener.outbox.ended and (records := store.events(after, _BATCH)):
            news = [told for record in records if (told := build_bus_event(rows, record)) is not None]
            heard = [told for told in news if told.is_for(rows, self._by)]
            for chunk in _join_chunks(
                told.data if told.seq > seq else told.join_frames_after(frames_seen) for told in heard
            ):
                await _write(send, chunk)
            await asyncio.sleep(0)
            after = records[-1].seq
        self._events.start_live(listener, after)


def _join_chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join pieces until a write is worth its cost."""
    chunk = b""
    for piece in pieces:
        chunk += piece
        if len(chunk) > _CHUNK:
            yield chunk
            chunk = b""
    if chunk:
        yield chunk


async def _watch(listener: EventSubscriber, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.outbox.end()


async def _pass_on(listener: EventSubscriber, send: Send) -> None:
    """Send what comes, and a comment when nothing does, until the stream has ended."""
    while True:
        try:
            async with asyncio.timeout(_QUIET_S):
                chunk = await listener.outbox.take()
        except TimeoutError:
            chunk = _COMMENT
        if chunk is None:
            await _write(send, b"", more=False)
            return
        await _write(send, chunk)


async def _write(send: Send, chunk: bytes, more: bool = True) -> None:
    async with asyncio.timeout(SEND_S):
        await send({"type": "http.response.body", "body": chunk, "more_body": more})


def _build_headers(head: int) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"x-accel-buffering", b"no"),
        (b"last-event-id", b"%d" % head),
    ]


def build_endpoint(hub: Hub) -> Endpoint:
    """The door of the events."""
    events = EventStreams(hub)

    async def run(hub: Hub, by: Principal, request: Request) -> Response:
        events.need_room(by)
        given = request.headers.get("last-event-id") or request.query_params.get("after")
        return EventStream(events, by, _parse_place(given) if given else None)

    return Endpoint(
        "GET", "/events", "read", run, "The events of the bus as they happen (SSE)", answer="text/event-stream"
    )


def _parse_place(given: str) -> Place:
    match = _PLACE.fullmatch(given)
    if match is None:
        raise Refused("bad_event_id")
    return int(match.group(1)), int(match.group(2) or 0)
