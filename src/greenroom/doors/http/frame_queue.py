"""The frames queued for one client, bounded in bytes, so that a slow client costs only itself."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

F = TypeVar("F", bound=str | bytes)
SEND_S = 20.0
"""A client that does not take one frame in this time is given up."""


class FrameQueue(Generic[F]):
    """Frames in order. When more is queued than allowed the outbox overflows: it is emptied, and ends."""

    __slots__ = ("_frames", "_limit", "_taken", "_wake", "ended", "overflowed", "queued")

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._frames: deque[tuple[F, int]] = deque()
        self._wake = asyncio.Event()
        self._taken = asyncio.Event()
        self.queued = 0
        self.ended = False
        self.overflowed = False

    def put(self, *frames: tuple[F, int]) -> None:
        """Queue frames with their sizes. Together they may pass the limit, or a busy commit would cut every client."""
        if self.ended:
            return
        if self.queued > self._limit:
            self.overflowed = True
            self.end()
            return
        self._frames.extend(frames)
        self.queued += sum([size for _, size in frames])
        self._wake.set()

    def put_droppable(self, frame: tuple[F, int]) -> None:
        """Queue a frame that may be lost, unless the client is behind already."""
        if self.queued < self._limit // 8:
            self.put(frame)

    def end(self) -> None:
        """Drop what is queued; release whoever takes from it or waits for room."""
        self.ended = True
        self._frames.clear()
        self.queued = 0
        self._wake.set()
        self._taken.set()

    async def take(self) -> F | None:
        """The next frame; None when the outbox has ended."""
        while not self._frames:
            if self.ended:
                return None
            self._wake.clear()
            await self._wake.wait()
        frame, size = self._frames.popleft()
        self.queued -= size
        self._taken.set()
        return frame

    async def wait_for_room(self) -> None:
        """Wait until the client has read most of its answers, before it gets more."""
        while self.queued > self._limit // 4:
            self._taken.clear()
            await self._taken.wait()
