"""The hub's time: integer milliseconds inside, ISO text only at the edges."""

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol

_START = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970, as this hub sees it."""
        ...


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


def iso(ms: int) -> str:
    """The text form of a time: `2026-11-15T10:20:30.123Z`."""
    second, rest = divmod(ms, 1000)
    return f"{_second(second)}.{rest:03d}Z"


@lru_cache(1024)
def _second(number: int) -> str:
    return datetime.fromtimestamp(number, UTC).isoformat()[:19]


def from_iso(text: str) -> int:
    """Milliseconds of an ISO time; a time without a zone is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _START) // timedelta(milliseconds=1)
