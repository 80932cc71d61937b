"""Runs requests that compute for long in a thread, one at a time, while the loop answers all others.

It is no queue of jobs: whoever asks waits for the answer, and is refused when too many wait already.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from greenroom.errors import Unavailable

T = TypeVar("T")
_MOST_WAITING = 64


class HeavyWork:
    """One piece of work at a time: two would compete with the event loop for the interpreter."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def run(self, work: Callable[[], T]) -> T:
        """The result of a function, called in a thread."""
        return await self.run_read(lambda: asyncio.to_thread(work))

    async def run_read(self, start: Callable[[], Awaitable[T]]) -> T:
        """The result of something that does its work in a thread by itself, such as a long read.

        A caller who leaves gives up the answer, not the turn: a thread cannot be stopped.
        """
        if self._waiting >= _MOST_WAITING:
            raise Unavailable("busy.requests")
        self._waiting += 1
        task = asyncio.ensure_future(self._take_turn(start))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _take_turn(self, start: Callable[[], Awaitable[T]]) -> T:
        try:
            async with self._turn:
                return await start()
        finally:
            self._waiting -= 1
