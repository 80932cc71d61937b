"""Shifts the times that runs wait for when the clock was set: spans keep their length, dates stay dates."""

import msgspec

from greenroom.log.model import Context, Event, Project, Recorded, Rows, Tx
from greenroom.rules.clock.model import ClockMoved
from greenroom.rules.workflows.events import WorkflowTimesMoved
from greenroom.rules.workflows.model import STEPS, WORKFLOW_RUNS

replace = msgspec.structs.replace


def on_clock_moved(rows: Rows, event: ClockMoved, context: Context) -> list[Event]:
    return [WorkflowTimesMoved(ms=event.ms)]


def workflow_times_moved(tx: Tx, event: WorkflowTimesMoved, record: Recorded) -> None:
    for step in tx.find(STEPS, after=("due", 0)):
        if not step.dated:
            tx.put(STEPS, replace(step, due=max(1, step.due + event.ms)))
    for run in tx.find(WORKFLOW_RUNS, after=("due", 0)):
        tx.put(WORKFLOW_RUNS, replace(run, due=max(1, run.due + event.ms)))


PROJECT: dict[type[Event], Project] = {WorkflowTimesMoved: workflow_times_moved}
