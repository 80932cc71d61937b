"""Records which messages were delivered to whom, many at a time."""

import asyncio
import logging

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import AdvanceCursors, CursorAdvance

logger = logging.getLogger(__name__)
_REST_S = 0.2
_ALONG_S = 0.05
_RETRY_S = 1.0
Reach = dict[tuple[str, str], tuple[int, int]]
"""Thread and member, to the newest seqs delivered and seen."""


class Deliveries:
    """Members' cursors on their way to the log.

    A crash loses at most the last moment: a message is then shown as delivered a little later than it was, and never as
    delivered when it was not. For that, a cursor waits before it is written, until its messages have left the hub.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._fresh: Reach = {}
        self._rested: Reach = {}
        self._writing: Reach = {}
        self._wake = asyncio.Event()

    def note(self, thread_id: str, member_id: str, *, delivered: int = 0, seen: int = 0) -> None:
        """A member was handed messages up to `delivered`, and has shown to know those up to `seen`."""
        _advance(self._fresh if delivered else self._rested, (thread_id, member_id), (delivered, seen))
        self._wake.set()

    def get_delivered(self, thread_id: str, member_id: str) -> int:
        """The newest seq handed over that the member's row does not show yet; 0 if there is none."""
        place = (thread_id, member_id)
        return max(noted.get(place, (0, 0))[0] for noted in (self._fresh, self._rested, self._writing))

    async def run(self) -> None:
        """Write them down as they gather; to be run as a task."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._pause_between_writes()
            await asyncio.sleep(_REST_S)
            await self._write(_ALONG_S)

    async def flush(self) -> None:
        """Write down all that has gathered."""
        self._pause_between_writes()
        await self._write(0)

    def _pause_between_writes(self) -> None:
        for place, seqs in self._fresh.items():
            _advance(self._rested, place, seqs)
        self._fresh = {}

    async def _write(self, within_s: float) -> None:
        """If the disk does not take it now it is kept for the next time."""
        if not self._rested:
            return
        self._writing, self._rested = self._rested, {}
        reached = [CursorAdvance(*place, *seqs) for place, seqs in self._writing.items()]
        try:
            await self._log.do_along(AdvanceCursors(by=HUB, reached=reached), within_s)
        except Unavailable as no:
            logger.warning("that something was delivered must wait: %s", no)
            for place, seqs in self._writing.items():
                _advance(self._rested, place, seqs)
            asyncio.get_running_loop().call_later(_RETRY_S, self._wake.set)
        finally:
            self._writing = {}


def _advance(reach: Reach, place: tuple[str, str], seqs: tuple[int, int]) -> None:
    delivered, seen = reach.get(place, (0, 0))
    reach[place] = (max(delivered, seqs[0]), max(seen, seqs[1]))
