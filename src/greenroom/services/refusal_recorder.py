"""Records refused calls in the audit: one record each, and only totals for a flood."""

import asyncio
import logging
import time
from dataclasses import dataclass

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.rules.access.model import HUB
from greenroom.rules.access.refused_calls import NoteRefusals, RefusedCall

logger = logging.getLogger(__name__)
RECORDED = frozenset({401, 403, 404, 413, 421, 429, 431})
"""The responses that refuse the caller or a missing right, and not the form of a call."""
_GATHER_S = 0.1
_SUM_S = 60.0
_BURST, _PER_S = 200.0, 0.5
"""So many refusals are recorded one by one at once, and then so many a second; the rest is summed up."""
_MOST_SUMS = 50
_ACTION_CHARS = 120


@dataclass
class _Sum:
    status: int
    since: int
    times: int = 0


class RefusalRecorder:
    """Gathers refusals and writes them; a flood of them can fill neither memory nor disk."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._single: list[RefusedCall] = []
        self._sums: dict[tuple[str, str, str], _Sum] = {}
        self._left, self._at = _BURST, time.monotonic()
        self._summed_at = 0.0
        self._wake = asyncio.Event()

    def note(self, *, by: str, peer: str, action: str, code: str, status: int) -> None:
        """A call was refused. Costs nothing but memory; it is written a moment later."""
        if status not in RECORDED:
            return
        now = self._log.clock.now()
        if self._take_token():
            cut = action[:_ACTION_CHARS]
            self._single.append(RefusedCall(by=by, peer=peer, action=cut, code=code, status=status, since=now))
        else:
            key = (by, peer, code) if len(self._sums) < _MOST_SUMS else ("", "", code)
            one = self._sums.setdefault(key, _Sum(status, now))
            one.times += 1
        self._wake.set()

    def _take_token(self) -> bool:
        now = time.monotonic()
        self._left = min(_BURST, self._left + (now - self._at) * _PER_S)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    async def run(self) -> None:
        """Write what was refused; to be run as a task."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(_GATHER_S)
            await self.flush(sums=time.monotonic() - self._summed_at >= _SUM_S)
            if self._sums:
                asyncio.get_running_loop().call_later(_SUM_S, self._wake.set)

    async def flush(self, *, sums: bool = True) -> None:
        """Write what was gathered; what cannot be written now is kept, as far as it is bounded."""
        refused, self._single = self._single, []
        if sums and self._sums:
            taken, self._sums, self._summed_at = self._sums, {}, time.monotonic()
            refused += [
                RefusedCall(by=by, peer=peer, code=code, status=one.status, times=one.times, since=one.since)
                for (by, peer, code), one in taken.items()
            ]
        if not refused:
            return
        try:
            await self._log.do(NoteRefusals(by=HUB, refused=refused))
        except Unavailable as no:
            logger.warning("%d refusals cannot be written now: %s", len(refused), no)
            self._single = (refused + self._single)[: int(_BURST)]
