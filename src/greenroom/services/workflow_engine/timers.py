"""Times that steps and runs wait for: spans by a clock that does not jump, dates by the hub's own."""

import heapq
import time
from collections.abc import Callable
from typing import NamedTuple

LOOK_S = 1.0
"""How long the engine sleeps at most while something is timed, so that a clock that is set is noticed."""


class TimerEntry(NamedTuple):
    """What is due: a step, or with no step a whole run."""

    run_id: str
    step: str
    due: int


class Timers:
    """What is due next. Outdated entries are harmless: the receiver checks whether they still hold."""

    def __init__(self, now: Callable[[], int], steady: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._steady = steady
        self._spans: list[tuple[float, TimerEntry]] = []
        self._dates: list[tuple[int, TimerEntry]] = []

    def add(self, timed: TimerEntry, *, dated: bool) -> None:
        if dated:
            heapq.heappush(self._dates, (timed.due, timed))
        else:
            left_s = (timed.due - self._now()) / 1000
            heapq.heappush(self._spans, (self._steady() + left_s, timed))

    def take_due(self) -> list[TimerEntry]:
        """What is due by now."""
        out: list[TimerEntry] = []
        steady, now = self._steady(), self._now()
        while self._spans and self._spans[0][0] <= steady:
            out.append(heapq.heappop(self._spans)[1])
        while self._dates and self._dates[0][0] <= now:
            out.append(heapq.heappop(self._dates)[1])
        return out

    def sleep_s(self) -> float | None:
        """How long there is nothing to do; None when nothing is timed."""
        ends = [self._spans[0][0] - self._steady()] if self._spans else []
        if self._dates:
            ends.append((self._dates[0][0] - self._now()) / 1000)
        return max(0.0, min(*ends, LOOK_S)) if ends else None
