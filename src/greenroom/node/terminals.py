"""Terminals that people may watch: each with its screen, shown as it changes, however much the program writes."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from greenroom.link.frames import LiveKind
from greenroom.node.screens import Screen
from greenroom.runtimes.attachable import AttachableTerminal

Show = Callable[[LiveKind, Any], bool]
"""Send something of a kind to whoever looks; False when that cannot be now."""
ROWS, COLUMNS = 36, 110
_BACKLOG = 256 * 1024
_PIECE = 2048
_SLICE_S = 0.008
_SHARE = 4
"""For each second that screens are worked out, so many seconds are left to everything else."""
_FRAME_S = 0.04


class TerminalPacer:
    """Shared by all terminals of a node, so that those that flood do not take the time of the others."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def work(self, some: Callable[[float], None]) -> None:
        """Do some of the work, up to a moment, and leave time to others."""
        async with self._turn:
            begin = time.monotonic()
            some(begin + _SLICE_S)
            await asyncio.sleep((time.monotonic() - begin) * _SHARE)


class ShownTerminal:
    """A terminal and its screen. It takes all that comes; what comes too fast for the screen is left out of it."""

    def __init__(self, seat: AttachableTerminal, show: Show, pace: TerminalPacer) -> None:
        self._seat = seat
        self._show = show
        self._pace = pace
        self.screen = Screen(ROWS, COLUMNS, seat.type)
        self.is_watched = False
        self._backlog = bytearray()
        self._something = asyncio.Event()
        self._is_whole_due = False
        self._shown: Any = None
        self._shown_at = 0.0
        self._unwatch = seat.watch(self._take)
        self._working = asyncio.create_task(self._work(), name="a terminal's screen")
        self._ending = asyncio.create_task(self._end(), name="a terminal's end")
        self._code: int | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether the program has ended."""
        return self._is_over

    def watch(self, on: bool) -> None:
        """Somebody watches: show the whole screen, then its changes; or nobody does any more."""
        self.is_watched = on
        self._is_whole_due = on
        self._something.set()
        if self._working.done():
            self._working = asyncio.create_task(self._work(), name="a terminal's screen")

    def type(self, text: str) -> None:
        self._seat.type(text.encode("utf-8", "replace"))

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self._seat.resize(*self.screen.size)
        self._is_whole_due = True
        self._something.set()

    async def close(self) -> None:
        """End the program."""
        await self._seat.close()
        await self.forget()

    async def forget(self) -> None:
        """Stop working out the screen of a program that has ended."""
        self._unwatch()
        for task in (self._working, self._ending):
            task.cancel()
        await asyncio.gather(self._working, self._ending, return_exceptions=True)

    def _take(self, piece: bytes) -> None:
        self._backlog += piece
        if len(self._backlog) > _BACKLOG:
            cut = self._backlog.find(b"\n", _BACKLOG // 2)
            cut = cut + 1 if 0 <= cut < len(self._backlog) - 1 else _BACKLOG // 2
            del self._backlog[:cut]
            self.screen.skip(cut)
        self._something.set()

    async def _end(self) -> None:
        self._code = await self._seat.wait_for_exit()
        self._is_over = True
        self._something.set()

    async def _work(self) -> None:
        """Run until the program has ended and nobody watches."""
        while self.is_watched or self._backlog or not self._is_over:
            await self._something.wait()
            self._something.clear()
            while self._backlog:
                await self._pace.work(self._feed)
                self._show_soon()
            await asyncio.sleep(max(0.0, self._shown_at + _FRAME_S - time.monotonic()))
            if not self._show_soon() or (self.is_watched and self.screen.changed):
                await asyncio.sleep(_FRAME_S)
                self._something.set()
            if self._is_over and not self._backlog and self.is_watched:
                self._show("ended", {"code": self._code})

    def _feed(self, until: float) -> None:
        while self._backlog and time.monotonic() < until:
            piece = bytes(self._backlog[:_PIECE])
            del self._backlog[:_PIECE]
            self.screen.feed(piece)

    def _show_soon(self) -> bool:
        """Show the changes, unless some were shown a moment ago; False when they could not be sent."""
        if not self.is_watched or time.monotonic() < self._shown_at + _FRAME_S:
            return True
        state = self.screen.state()
        if not (self._is_whole_due or self.screen.changed or state != self._shown):
            return True
        self._shown, self._shown_at = state, time.monotonic()
        self._is_whole_due = not self._show("screen", self.screen.draw(whole=self._is_whole_due))
        return not self._is_whole_due
