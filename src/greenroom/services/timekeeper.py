"""Compares the hub's time with the machine's clock, or with the shared database's, and detects jumps."""

import asyncio
import logging

from greenroom.clock import JUMP_MS, Clock
from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit
from greenroom.rules.access.model import HUB
from greenroom.rules.clock.model import MoveClock
from greenroom.services.period import get_time_left_s

logger = logging.getLogger(__name__)
_LOOK_S = 1.0


class Timekeeper:
    """Follows small differences silently. A jump goes through the log, so that all that is timed jumps with it."""

    def __init__(self, log: Log, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._leads = False

    def on_commit(self, commit: Commit) -> None:
        """The clock was moved. Watchers that come later find it as it is after the jump."""
        for record in commit.records:
            self._clock.move(record.event.ms)

    async def run(self) -> None:
        """Keep time; a task of every hub."""
        while True:
            try:
                await self._check_clock()
            except Unavailable as no:
                logger.warning("the time cannot be compared: %s", no)
            await asyncio.sleep(get_time_left_s(_LOOK_S))

    async def _check_clock(self) -> None:
        behind = self._clock.measure_lag_ms()
        if abs(behind) < JUMP_MS:
            self._clock.move(behind)
        elif self._leads:
            passed = round(behind / 1000)
            logger.warning("the clock was set by %+d s; what is timed moves along", passed)
            await self._log.do(MoveClock(by=HUB, ms=behind))

    async def run_as_leader(self) -> None:
        """Be the one that takes jumps; a task of the hub that leads."""
        self._leads = True
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._leads = False
