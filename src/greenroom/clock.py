"""The hub's time: integer milliseconds inside, ISO text only at the edges."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol

_START = datetime(1970, 1, 1, tzinfo=UTC)
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that nobody sets and that continues while the machine sleeps. On Linux it is not the usual one."""
JUMP_MS = 5_000
"""A difference between two looks at the clock that is not its own pace: somebody has set it."""


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970, as this hub sees it."""
        ...

    def measure_lag_ms(self) -> int:
        """By how much the clock that it goes by is ahead of it."""
        ...

    def move(self, ms: int) -> None:
        """Go along with that clock."""
        ...


class SystemClock:
    """The machine's clock itself, with all its jumps."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def measure_lag_ms(self) -> int:
        return 0

    def move(self, ms: int) -> None:
        return


class HubClock:
    """A steady clock that continues while the machine sleeps, and follows a jump only when it is moved.

    A jump happens when somebody sets the machine's clock. Because the hub moves its own clock, it can first move all
    stored times by as much: deadlines neither pass at once nor move away by a day.
    """

    def __init__(self, wall: Callable[[], int], newest: int = 0) -> None:
        """`newest` is the time of the newest event: a clock that is behind it was put back while nobody looked."""
        self._wall = wall
        now = wall()
        self._offset = (newest if newest - now >= JUMP_MS else now) - steady_ms()

    def now(self) -> int:
        return time.clock_gettime_ns(_STEADY) // 1_000_000 + self._offset

    def measure_lag_ms(self) -> int:
        return self._wall() - self.now()

    def move(self, ms: int) -> None:
        self._offset += ms


def steady_ms() -> int:
    """Milliseconds of a clock that nobody sets, and that continues while the machine sleeps."""
    return time.clock_gettime_ns(_STEADY) // 1_000_000


def format_iso(ms: int) -> str:
    """The text form of a time: `2026-11-15T10:20:30.123Z`."""
    second, rest = divmod(ms, 1000)
    return f"{_format_second(second)}.{rest:03d}Z"


@lru_cache(1024)
def _format_second(number: int) -> str:
    return datetime.fromtimestamp(number, UTC).isoformat()[:19]


def parse_iso(text: str) -> int:
    """Milliseconds of an ISO time; a time without a zone is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _START) // timedelta(milliseconds=1)
