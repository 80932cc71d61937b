"""Which workflow runs wait for a person, computed from open asks."""

from collections.abc import Iterator

import msgspec

from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.log.model import Context, Event, Follow, Rows
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.runs.model import RUNS
from greenroom.rules.workflows.events import WorkflowWaitEnded, WorkflowWaits
from greenroom.rules.workflows.model import STEPS, WAITS, WORKFLOW_RUNS, PersonWait, WorkflowStep

_MOST_LEVELS = 30
"""How far the agents that started each other, and the workflows around a step, are looked through."""


def on_ask_raised(rows: Rows, event: AskRaised, context: Context) -> list[Event]:
    """The runs that a new ask blocks. A report blocks none: people only read it."""
    asker = event.asker
    if not ASK_KINDS[event.kind].is_awaited:
        return []
    step = _get_step_of_agent(rows, asker.run_id)
    if asker.workflow_run_id is not None and asker.step is not None:
        step = rows.get(STEPS, asker.workflow_run_id, asker.step)
        step = step if step is not None and step.is_waiting_for("ask", event.ask_id) else None
    wait = PersonWait(
        ask_id=event.ask_id, kind=event.kind, step="", since=context.now, name=asker.name, asked_of=event.asked_of
    )
    return [
        WorkflowWaits(run_id=run_id, wait=msgspec.structs.replace(wait, step=step_id))
        for run_id, step_id in _find_held_up_runs(rows, step)
    ]


def _get_step_of_agent(rows: Rows, run_id: str | None) -> WorkflowStep | None:
    """The step that an agent works for, if only by way of the agents that have started it."""
    for _ in range(_MOST_LEVELS):
        if run_id is None:
            return None
        found = rows.find(STEPS, {"waits_kind": "run", "waits_key": run_id}, limit=1)
        if found:
            return found[0]
        run = rows.get(RUNS, run_id)
        run_id = run.parent_id if run is not None else None
    return None


def _find_held_up_runs(rows: Rows, step: WorkflowStep | None) -> Iterator[tuple[str, str]]:
    """The run of a step and the runs of which that one is a step, each with its own step."""
    if step is None:
        return
    run_id, step_id = step.run_id, step.id
    for _ in range(_MOST_LEVELS):
        yield run_id, step_id
        run = rows.get(WORKFLOW_RUNS, run_id)
        if run is None or run.parent_id is None or run.parent_step is None:
            return
        run_id, step_id = run.parent_id, run.parent_step


def on_ask_closed(rows: Rows, event: AskAnswered | AskExpired | AskWithdrawn, context: Context) -> list[Event]:
    """The runs that an ask holds up no longer."""
    held_up = rows.find(WAITS, {"ask_id": event.ask_id})
    return [WorkflowWaitEnded(run_id=one.run_id, ask_id=one.ask_id) for one in held_up]


FOLLOW: dict[type[Event], Follow] = {
    AskRaised: on_ask_raised,
    AskAnswered: on_ask_closed,
    AskExpired: on_ask_closed,
    AskWithdrawn: on_ask_closed,
}
