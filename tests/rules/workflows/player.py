"""Plays a run in memory: attempts end as a script says, one after another, and time passes when nothing else does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from greenroom.log.model import Event
from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.core.advance import advance
from greenroom.rules.workflows.core.board import MemoryBoard
from greenroom.rules.workflows.core.news import Begin, Due, Ended, News
from greenroom.rules.workflows.core.plan import make_plan
from greenroom.rules.workflows.core.state import apply_event
from greenroom.rules.workflows.core.transition import build_values, evaluate_mapping
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import WorkflowFacts, WorkflowRun, WorkflowStep

Outcome = tuple[bool, Any]
"""Whether an attempt succeeds, and its output or its error."""
Script = Callable[[WorkflowStep], Outcome]


def succeed(step: WorkflowStep) -> Outcome:
    """The script in which every attempt succeeds with its own name."""
    return True, step.id


@dataclass
class Player:
    """One run of a definition, without anything around it."""

    definition: WorkflowDefinition
    script: Script = succeed
    rank: Callable[[str], Any] = lambda step_id: step_id
    """Which of several attempts at work ends first."""
    inputs: dict[str, Any] = field(default_factory=dict)
    now: int = 1_000

    def __post_init__(self) -> None:
        self.plan = make_plan(self.definition)
        run = WorkflowRun(
            id="wfr_1",
            workflow=self.definition.name,
            digest="",
            status="running",
            created_at=self.now,
            by="somebody",
            root_id="wfr_1",
            steps=self.plan.steps,
        )
        facts = WorkflowFacts(run_id="wfr_1", inputs=self.inputs, variables=dict(self.definition.variables))
        self.board = MemoryBoard(run, facts)
        self.events: list[Event] = []

    def tell(self, news: News) -> list[Event]:
        """Tell the run something, and keep what comes of it."""
        new = advance(self.plan, self.board, news, self.now)
        for event in new:
            apply_event(self.board, event, self.now)
        self.events += new
        return new

    @property
    def status(self) -> str:
        return self.board.run.status

    def statuses(self) -> dict[str, str]:
        """How each step stands; a step to which nothing has happened is pending."""
        named = dict.fromkeys(self.plan.nodes, "pending")
        return {**named, **{step_id: step.status for step_id, step in self.board.steps.items()}}

    def outputs(self) -> dict[str, Any]:
        return {step.id: step.output for step in self.board.steps.values() if step.status == "completed"}

    def at_work(self) -> list[WorkflowStep]:
        """The attempts that are being made, in the order in which they end."""
        found = [s for s in self.board.steps.values() if s.status == "running" and s.waits_kind is not None]
        return sorted(found, key=lambda step: self.rank(step.id))

    def end(self, step: WorkflowStep) -> None:
        """End one attempt as the script, or its own expressions, say."""
        node = self.plan.nodes[step.id.partition("[")[0]]
        if step.waits_kind == "engine":
            output = evaluate_mapping(node.set, build_values(self.plan, self.board, [("steps",)], step, input={}))
            self.tell(Ended(step=step.id, attempt=step.attempt, ok=True, output=output))
            return
        ok, what = self.script(step)
        told = {"output": what} if ok else {"error": what}
        self.tell(Ended(step=step.id, attempt=step.attempt, ok=ok, **told))

    def play(self, most: int = 10_000) -> "Player":
        """Go on until the run is over, or waits for somebody."""
        assert self.play_some(most) < most, "the run does not come to an end"
        return self

    def play_some(self, most: int) -> int:
        """Let some things happen; how many that were."""
        if not self.events:
            self.tell(Begin())
        for count in range(most):
            working = self.at_work()
            if working:
                self.end(working[0])
                continue
            timed = [step for step in self.board.steps.values() if step.due]
            if not timed or self.status not in ("running", "stopping"):
                return count
            first = min(timed, key=lambda step: (step.due, self.rank(step.id)))
            self.now = max(self.now, first.due)
            self.tell(Due(step=first.id, due=first.due))
        return most

    def attempts(self) -> list[tuple[str, int]]:
        """The attempts in the order in which they began."""
        return [(event.step, event.attempt) for event in self.events if isinstance(event, e.StepBegan)]


def workflow(*steps: dict[str, Any], **more: Any) -> WorkflowDefinition:
    """A definition from plain steps: `{"id": "a"}` is a step with an agent."""

    def whole(step: dict[str, Any]) -> dict[str, Any]:
        kinds = ("prompt", "skill", "set", "wait", "workflow", "level")
        rest = {} if any(kind in step for kind in kinds) else {"prompt": "do it", "profile": "rehearsal"}
        return {**rest, **step}

    return msgspec.convert({"name": "test", "steps": [whole(step) for step in steps], **more}, WorkflowDefinition)
