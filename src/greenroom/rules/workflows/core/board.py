"""The state of one run, and how it begins."""

from typing import Protocol

from greenroom.log.copied_fields import copy_fields
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
    return copy_fields(event, WorkflowRun, id=event.run_id, status="running", created_at=at, seq=seq, by=by)


def build_facts(event: WorkflowBegan) -> WorkflowFacts:
    return copy_fields(event, WorkflowFacts, agents={})
