"""What was handed over to whom, gathered and written down many at a time."""

import asyncio

from greenroom.log.errors import Unavailable
from greenroom.log.log import Log
from greenroom.nouns.access.model import HUB
from greenroom.nouns.threads.commands import AdvanceCursors, Reached

_EVERY_S = 0.2


class Deliveries:
    """Members' cursors on their way to the log. A crash loses at most the last moment: a message is then shown as
    delivered a little later than it was, and never as delivered when it was not."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._reached: dict[tuple[str, str], tuple[int, int]] = {}
        self._writing: dict[tuple[str, str], tuple[int, int]] = {}
        self._wake = asyncio.Event()

    def note(self, thread_id: str, member_id: str, *, delivered: int = 0, seen: int = 0) -> None:
        """A member was handed messages up to `delivered`, and has shown to know those up to `seen`."""
        before = self._reached.get((thread_id, member_id), (0, 0))
        self._reached[(thread_id, member_id)] = (max(before[0], delivered), max(before[1], seen))
        self._wake.set()

    def delivered(self, thread_id: str, member_id: str) -> int:
        """The newest seq handed over that the member's row does not show yet; 0 if there is none."""
        place = (thread_id, member_id)
        return max(noted.get(place, (0, 0))[0] for noted in (self._reached, self._writing))

    async def run(self) -> None:
        """Write them down as they gather; to be run as a task."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(_EVERY_S)
            self._wake.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write down what has gathered; if the disk does not take it now it is kept for the next time."""
        if not self._reached:
            return
        self._writing, self._reached = self._reached, {}
        reached = [Reached(*place, *seqs) for place, seqs in self._writing.items()]
        try:
            await self._log.do(AdvanceCursors(by=HUB, reached=reached))
        except Unavailable:
            for (thread_id, member_id), (delivered, seen) in self._writing.items():
                self.note(thread_id, member_id, delivered=delivered, seen=seen)
            self._wake.clear()
        finally:
            self._writing = {}
