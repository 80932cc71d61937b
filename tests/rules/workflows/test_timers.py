"""Times that runs wait for, with clocks that jump."""

import pytest

from greenroom.services.workflow_engine.timers import LOOK_S, TimerEntry, Timers


class Clocks:
    """A clock on the wall that can be set, and one that only goes on."""

    def __init__(self) -> None:
        self.wall_ms = 1_000_000
        self.steady_s = 50.0

    def now(self) -> int:
        return self.wall_ms

    def steady(self) -> float:
        return self.steady_s

    def pass_s(self, seconds: float) -> None:
        self.wall_ms += int(seconds * 1000)
        self.steady_s += seconds


def made() -> tuple[Clocks, Timers]:
    clocks = Clocks()
    return clocks, Timers(clocks.now, clocks.steady)


def test_what_is_due_comes_in_its_order_and_once() -> None:
    clocks, timers = made()
    for seconds in (3, 1, 2):
        timers.add(TimerEntry("run", f"s{seconds}", clocks.now() + seconds * 1000), dated=False)
    clocks.pass_s(2.5)
    assert [timed.step for timed in timers.take_due()] == ["s1", "s2"]
    clocks.pass_s(1)
    assert [timed.step for timed in timers.take_due()] == ["s3"]
    assert timers.take_due() == []


def test_a_clock_that_is_set_forward_ends_no_span_before_its_time() -> None:
    clocks, timers = made()
    timers.add(TimerEntry("run", "work", clocks.now() + 60_000), dated=False)
    timers.add(TimerEntry("run", "nine o'clock", clocks.now() + 60_000), dated=True)
    clocks.wall_ms += 3_600_000
    assert [timed.step for timed in timers.take_due()] == ["nine o'clock"]
    clocks.pass_s(60)
    assert [timed.step for timed in timers.take_due()] == ["work"]


def test_a_clock_that_is_set_back_makes_no_span_longer() -> None:
    clocks, timers = made()
    timers.add(TimerEntry("run", "pause", clocks.now() + 5_000), dated=False)
    clocks.wall_ms -= 3_600_000
    clocks.pass_s(5)
    assert [timed.step for timed in timers.take_due()] == ["pause"]


def test_the_engine_sleeps_until_something_comes_when_nothing_is_timed() -> None:
    clocks, timers = made()
    assert timers.sleep_s() is None
    timers.add(TimerEntry("run", "far", clocks.now() + 3_600_000), dated=True)
    assert timers.sleep_s() == LOOK_S
    timers.add(TimerEntry("run", "near", clocks.now() + 200), dated=False)
    assert timers.sleep_s() == pytest.approx(0.2)
