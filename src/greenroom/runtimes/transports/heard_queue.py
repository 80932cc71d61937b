"""The queue of facts that nobody has read yet. It drops nothing: a slow reader slows the agent."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from greenroom.runtimes.contract import Heard

_FULL = 1000


class HeardQueue:
    """A queue with one reader. Whoever puts never waits; whoever reads from the agent waits for `room` first."""

    def __init__(self) -> None:
        self._heard: deque[Heard] = deque()
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_boundless = False
        self._ended = False

    def put(self, *heard: Heard) -> None:
        """Add a fact."""
        self._heard.extend(heard)
        self._something.set()
        if len(self._heard) >= _FULL and not self._is_boundless:
            self._room.clear()

    def lift_limit(self) -> None:
        """The agent is gone: take what is left of its words, however slow the reader is."""
        self._is_boundless = True
        self._room.set()

    def end(self) -> None:
        """No more facts will come."""
        self.lift_limit()
        self._ended = True
        self._something.set()

    async def wait_for_room(self) -> None:
        """Wait until the reader has caught up."""
        await self._room.wait()

    async def listen(self) -> AsyncIterator[Heard]:
        """Everything in order, until the end."""
        while True:
            while self._heard:
                one = self._heard.popleft()
                if len(self._heard) < _FULL // 2:
                    self._room.set()
                yield one
            if self._ended:
                return
            self._something.clear()
            await self._something.wait()
