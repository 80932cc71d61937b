"""One call of the core: the changing state, the remaining work, and the values that expressions see."""

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from greenroom.expressions import Expression, TextTemplate
from greenroom.log.model import Event
from greenroom.rules.workflows.core.board import Board
from greenroom.rules.workflows.core.plan import Plan, PlanNode, Value
from greenroom.rules.workflows.core.state import apply_event
from greenroom.rules.workflows.model import (
    WorkflowAttempt,
    WorkflowEnding,
    WorkflowFacts,
    WorkflowRun,
    WorkflowStep,
    build_item_id,
    get_step_id,
)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class OverlayBoard:
    """A board on top of another: changes stay here."""

    def __init__(self, below: Board) -> None:
        self.run: WorkflowRun = below.run
        self._facts: WorkflowFacts | None = None
        self._below = below
        self._steps: dict[str, WorkflowStep | None] = {}

    @property
    def facts(self) -> WorkflowFacts:
        return self._below.facts if self._facts is None else self._facts

    @facts.setter
    def facts(self, facts: WorkflowFacts) -> None:
        self._facts = facts

    def step(self, step_id: str) -> WorkflowStep | None:
        if step_id in self._steps:
            return self._steps[step_id]
        found = self._steps[step_id] = self._below.step(step_id)
        return found

    def put_step(self, step: WorkflowStep) -> None:
        self._steps[step.id] = step

    def put_attempt(self, attempt: WorkflowAttempt) -> None:
        """Attempts that are over change nothing."""

    def put_ending(self, ending: WorkflowEnding) -> None:
        """Nor does what is ended outside."""


class Transition:
    """The state that one piece of news meets, and the events that come of it."""

    def __init__(self, plan: Plan, board: Board, now: int) -> None:
        self.plan = plan
        self.now = now
        self.board = OverlayBoard(board)
        self.is_whole_tree = False
        """Whether the runs below this one are ended together with it."""
        self.events: list[Event] = []
        self.todo: deque[tuple[str, str, Any]] = deque()

    @property
    def run(self) -> WorkflowRun:
        return self.board.run

    def emit(self, event: Event) -> None:
        self.events.append(event)
        apply_event(self.board, event, self.now)

    def node(self, step_id: str) -> PlanNode:
        return self.plan.nodes[get_step_id(step_id)]

    def step(self, step_id: str) -> WorkflowStep:
        return self.board.step(step_id) or WorkflowStep(run_id=self.run.id, id=step_id)

    def get_attempted_step(self, step_id: str, attempt: int) -> WorkflowStep | None:
        """The step, if it is at this attempt; news of any other comes too late."""
        found = self.board.step(step_id)
        if found is None or found.attempt != attempt or found.status not in ("running", "waiting"):
            return None
        return found

    def items(self, fan: WorkflowStep) -> list[WorkflowStep]:
        return [self.step(build_item_id(fan.id, index)) for index in range(fan.total)]

    def schedule(self, what: str, step_id: str, with_: Any = None) -> None:
        """Look at a step once the present one is done with."""
        self.todo.append((what, step_id, with_))

    def values(self, step: WorkflowStep | None, *of: Any, **more: Any) -> dict[str, Any]:
        """What expressions, and mappings of them, see; of the steps only those that they name are read."""
        return build_values(self.plan, self.board, find_paths(*of), step, **more)


def build_values(
    plan: Plan, board: Board, paths: Iterable[tuple[str, ...]], step: WorkflowStep | None, **more: Any
) -> dict[str, Any]:
    """What expressions that look up these paths see, at a step or at the run's end."""
    named: set[str] = set()
    for path in paths:
        if path[0] == "steps":
            named |= {path[1]} if len(path) > 1 else plan.nodes.keys()
    facts, run = board.facts, board.run
    seen: dict[str, Any] = {
        "inputs": facts.inputs,
        "vars": facts.variables,
        "steps": {name: _build_step_values(board.step(name)) for name in named if name in plan.nodes},
        "run": {"id": run.id, "workflow": run.workflow, "started_at": run.created_at, "by": run.by},
    }
    if step is not None:
        node = plan.nodes[get_step_id(step.id)]
        if step.index is not None:
            seen[node.item_name] = step.item
            seen["index"] = step.index
        if node.loop_max:
            seen["round"] = {"index": step.round, "last": step.output}
    seen.update(more)
    return seen


def evaluate_mapping(mapping: "Mapping[str, Value] | Value | None", seen: Mapping[str, Any]) -> Any:
    """A mapping of expressions and values, or one of them, worked out. Raises ExpressionFailed."""
    if isinstance(mapping, Mapping):
        return {name: one.evaluate(seen) if isinstance(one, Expression) else one for name, one in mapping.items()}
    return mapping.evaluate(seen) if isinstance(mapping, Expression) else mapping


def find_paths(*parts: Any) -> list[tuple[str, ...]]:
    """All that expressions, templates and mappings of them look up."""
    out: list[tuple[str, ...]] = []
    for part in parts:
        if isinstance(part, Mapping):
            out += find_paths(*part.values())
        elif isinstance(part, Expression | TextTemplate):
            out += part.paths
    return out


def _build_step_values(step: WorkflowStep | None) -> dict[str, Any]:
    if step is None:
        return {"status": "pending", "output": None, "error": None, "attempts": 0}
    error = None if step.error is None else str(step.error)
    return {"status": step.status, "output": step.output, "error": error, "attempts": step.attempt}


def hash_parts(*parts: object) -> bytes:
    """Bytes that follow from ids: the core has no chance in it."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()


def derive_id(prefix: str, at: int, *parts: object) -> str:
    """An id that sorts by time like any other, derived from its purpose, so that it is the same every time."""
    number = at << 80 | int.from_bytes(hash_parts(*parts)[:10], "big")
    return prefix + "_" + "".join([_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)])
