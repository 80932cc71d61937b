"""One connection of one node, as the hub sees it: what is sent over it, and when it is over."""

import asyncio

from starlette.types import Send

from greenroom.gateway import frames
from greenroom.nouns.access.model import Principal

_OUTGOING = 4096


class Link:
    """One connection of one node."""

    def __init__(self, by: Principal, epoch: int, hello: frames.Hello, taken: int, send: Send) -> None:
        self.node_id = by.agent_id or ""
        self.by = by
        self.epoch = epoch
        self.live = hello.live
        self.newest = hello.newest
        self.sent: set[str] = set()
        self.orders = asyncio.Event()
        self.is_caught_up = asyncio.Event()
        self.is_over = asyncio.Event()
        self._send = send
        self._outgoing: asyncio.Queue[frames.FromHub] = asyncio.Queue(_OUTGOING)
        self.took(taken)

    def took(self, number: int) -> None:
        """Once all that the node had kept is in the log, it can be seen which runs it has lost."""
        if number >= self.newest:
            self.is_caught_up.set()

    def say(self, frame: frames.FromHub) -> None:
        """Send a frame soon. A node that does not read is cut off, and resumes."""
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self.is_over.set()

    async def write(self) -> None:
        while True:
            frame = await self._outgoing.get()
            await self._send({"type": "websocket.send", "text": frames.encode(frame).decode()})

    async def end(self) -> None:
        """Ends the connection when it is over for the hub's part."""
        await self.is_over.wait()
        raise ConnectionError("it does not read, or has connected anew")
