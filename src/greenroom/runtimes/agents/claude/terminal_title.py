"""What the title of Claude Code's terminal says: whether it works or waits for a person."""

import asyncio
import contextlib
import re

from greenroom.runtimes.transports.pty import TerminalLine

_TITLE = re.compile(rb"\x1b\][02];([^\x07\x1b]*)(?:\x07|\x1b\\)")
_WAITS = "✳".encode()
_LONGEST = 512


class TerminalTitle:
    """Follows the title of one terminal. One that says nothing is taken for that of a program that waits."""

    def __init__(self, line: TerminalLine) -> None:
        self._rest = b""
        self._waits = asyncio.Event()
        self._waits.set()
        self._began = asyncio.Event()
        line.watch(self._see)

    def _see(self, piece: bytes) -> None:
        seen = self._rest + piece
        end = 0
        for found in _TITLE.finditer(seen):
            end = found.end()
            if not found[1] or found[1].startswith(_WAITS):
                self._waits.set()
            else:
                self._waits.clear()
                self._began.set()
        self._rest = seen[end:][-_LONGEST:]

    def begin(self) -> None:
        """It works, as another source reports."""
        self._began.set()

    def forget(self) -> None:
        """From now on, what is waited for with `began` has not happened yet."""
        self._began.clear()

    async def wait_until_working(self, within_s: float) -> bool:
        """Wait until it works or has worked."""
        return await _wait_for_event(self._began, within_s)

    async def wait_until_idle(self, within_s: float) -> bool:
        """Wait until it does not work."""
        return await _wait_for_event(self._waits, within_s)


async def _wait_for_event(event: asyncio.Event, within_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
    return event.is_set()
