"""The state of one run, and how it begins."""

from typing import Protocol

from greenroom.rules.workflows.events import WorkflowBegan
from greenroom.rules.workflows.model import (
    WorkflowAttempt,
    WorkflowEnding,
    WorkflowFacts,
    WorkflowRun,
    WorkflowStep,
)


class Board(Protocol):
    """Where the state of one run is kept. Reading one step costs the same however many there are."""

    run: WorkflowRun
    facts: WorkflowFacts

    def step(self, step_id: str) -> WorkflowStep | None:
        """A step, if something has happened to it."""
        ...

    def put_step(self, step: WorkflowStep) -> None: ...

    def put_attempt(self, attempt: WorkflowAttempt) -> None: ...

    def put_ending(self, ending: WorkflowEnding) -> None: ...


class MemoryBoard:
    """A board in memory."""

    def __init__(self, run: WorkflowRun, facts: WorkflowFacts) -> None:
        self.run = run
        self.facts = facts
        self.steps: dict[str, WorkflowStep] = {}
        self.attempts: list[WorkflowAttempt] = []
        self.endings: list[WorkflowEnding] = []

    def step(self, step_id: str) -> WorkflowStep | None:
        return self.steps.get(step_id)

    def put_step(self, step: WorkflowStep) -> None:
        self.steps[step.id] = step

    def put_attempt(self, attempt: WorkflowAttempt) -> None:
        self.attempts.append(attempt)

    def put_ending(self, ending: WorkflowEnding) -> None:
        self.endings.append(ending)


def build_run(event: WorkflowBegan, at: int, by: str, seq: int = 0) -> WorkflowRun:
    return WorkflowRun(
        id=event.run_id,
        workflow=event.workflow,
        digest=event.digest,
        status="running",
        created_at=at,
        seq=seq,
        by=by,
        root_id=event.root_id,
        steps=event.steps,
        depth=event.depth,
        parent_id=event.parent_id,
        parent_step=event.parent_step,
        parent_attempt=event.parent_attempt,
        thread_id=event.thread_id,
        trigger=event.trigger,
        taint=event.taint,
        due=event.due,
        directory=event.directory,
    )


def build_facts(event: WorkflowBegan) -> WorkflowFacts:
    return WorkflowFacts(
        run_id=event.run_id, inputs=event.inputs, variables=event.variables, pinned=event.pinned, agents={}
    )
