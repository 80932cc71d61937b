"""Shifts the deadlines of runs when the clock was set, so that each run keeps its time."""

import msgspec

from greenroom.log.model import Context, Event, Project, Recorded, Rows, Tx
from greenroom.rules.clock.model import ClockMoved
from greenroom.rules.runs.model import LIVE, RUNS


class RunTimesMoved(Event, frozen=True, kw_only=True):
    """The clock was set: runs keep the time that they had left."""

    ms: int


def on_clock_moved(rows: Rows, event: ClockMoved, context: Context) -> list[Event]:
    return [RunTimesMoved(ms=event.ms)]


def run_times_moved(tx: Tx, event: RunTimesMoved, record: Recorded) -> None:
    for status in LIVE:
        for run in tx.find(RUNS, {"status": status}, after=("deadline", 0)):
            tx.put(RUNS, msgspec.structs.replace(run, deadline=max(1, run.deadline + event.ms)))


PROJECT: dict[type[Event], Project] = {RunTimesMoved: run_times_moved}
