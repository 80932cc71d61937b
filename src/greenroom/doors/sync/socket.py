"""The sync socket: one WebSocket that sends a page the rows of its views and every change of them."""

import asyncio
from collections import defaultdict
from typing import assert_never
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from greenroom.buckets import Bucket
from greenroom.doors.http.errors import record_refusal
from greenroom.doors.http.routes import PRINCIPAL
from greenroom.doors.page import is_outdated
from greenroom.doors.sync import frames
from greenroom.doors.sync.feed import Feed, SyncClient
from greenroom.doors.sync.frames import BadFrame, Subscribe, SyncPing, Unsubscribe
from greenroom.doors.sync.views import VIEWS
from greenroom.errors import Refused
from greenroom.rules.access.model import NOBODY
from greenroom.services.hub import Hub

PATH = "/sync"
MOST_SOCKETS = 1000
"""For one principal."""
FRAME_CHARS = 65_536
_FRAMES = 600
_FRAMES_PER_S = 50.0


class SyncSocket:
    """The ASGI application at `/sync`; the guard has authenticated the caller."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._feed = Feed(hub)
        self._sockets: dict[str, int] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by = scope.get(PRINCIPAL, NOBODY)
        count = self._sockets.get(by.id, 0)
        if by.rights.isdisjoint(("read", "answer")) or count >= MOST_SOCKETS:
            await send({"type": "websocket.close", "code": 1008})
            return
        self._sockets[by.id] = count + 1
        client = SyncClient(by)
        if is_outdated(_get_page_build(scope)):
            client.outbox.put(frames.build_signal("page.outdated", {}))
        try:
            await send({"type": "websocket.accept"})
            await client.outbox.serve(send, self._read(client, receive))
        finally:
            self._feed.leave(client)
            self._sockets[by.id] -= 1
            if not self._sockets[by.id]:
                del self._sockets[by.id]
                self._turns.pop(by.id, None)

    async def _read(self, client: SyncClient, receive: Receive) -> None:
        pace = Bucket(_FRAMES, _FRAMES_PER_S)
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                client.outbox.end()
                return
            if not pace.take():
                client.outbox.close(1008, "too many frames")
                return
            text = message.get("text")
            if text is not None and len(text) > FRAME_CHARS:
                client.outbox.close(1009, "frame too large")
                return
            async with self._turns[client.by.id]:  # many clients that come at once are answered one after the other
                await self._handle_frame(client, text)
                await asyncio.sleep(0)
            await client.outbox.wait_for_room()

    async def _handle_frame(self, client: SyncClient, text: str | None) -> None:
        """Carry out one frame. An error in it is answered, and affects nothing else."""
        try:
            if text is None:
                raise BadFrame(None, "Frames are JSON text.")
            wish = frames.parse_frame(text)
        except BadFrame as bad:
            client.outbox.put(frames.build_error(bad.id, "bad_frame", str(bad)))
            return
        try:
            match wish:
                case Subscribe():
                    await self._feed.subscribe(client, wish)
                case Unsubscribe():
                    self._feed.unsubscribe(client, wish.id)
                case SyncPing():
                    client.outbox.put(frames.PONG)
                case _:
                    assert_never(wish)
        except Refused as no:
            record_refusal(self._hub, client.by, f"WS {PATH} {_describe_view(wish)}", no)
            number = None if isinstance(wish, SyncPing) else wish.id
            client.outbox.put(frames.build_error(number, no.code, no.said))


def _get_page_build(scope: Scope) -> str | None:
    """The build that a page names as its own."""
    return next(iter(parse_qs(scope["query_string"].decode("latin-1")).get("page", [])), None)


def _describe_view(wish: Subscribe | Unsubscribe | SyncPing) -> str:
    """The refused request in our words: what a client writes may be a leaked secret."""
    return wish.view if isinstance(wish, Subscribe) and wish.view in VIEWS else "*"
