"""A definition prepared for running: the order of steps, and every expression compiled once."""

import graphlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from greenroom.expressions import Expression, TextTemplate, compile_expression, compile_template
from greenroom.rules.workflows.definition import Step, StepKind, WorkflowDefinition

_NAMES = ("inputs", "vars", "steps", "run", "input", "index", "round", "output")
_KEPT = 256
Value = Expression | Any
"""A value in a mapping: an expression, or the value itself."""


@dataclass(frozen=True)
class IncomingEdge:
    """What leads to a step from one other: it is taken when that was completed and one of the conditions holds."""

    source: str
    conditions: tuple[Expression, ...] = ()
    on_error: bool = False
    """Taken when the other has failed, and not otherwise."""


@dataclass(frozen=True)
class PlanNode:
    """One step of a plan."""

    step: Step
    incoming: tuple[IncomingEdge, ...]
    after: tuple[str, ...]
    item_name: str
    when: Expression | None
    items: Expression | list[Any] | None
    parallel: int
    loop_max: int
    go_on: Expression | None
    enough: Expression | None
    inputs: Mapping[str, Value]
    set: Mapping[str, Value]
    output: Value | Mapping[str, Value] | None
    save: Mapping[str, Value]
    is_plain: bool
    """Whether what comes out of it is its output as it stands, and nothing else is done with it."""
    is_rollback: bool = False
    texts: dict[str, TextTemplate] = field(default_factory=dict)
    """Templates that were compiled already."""

    @property
    def id(self) -> str:
        return self.step.id

    @property
    def kind(self) -> StepKind:
        return self.step.kind

    def expression(self, text: str) -> Expression:
        return compile_expression(text, _build_names(self.item_name))

    def template(self, text: str) -> TextTemplate:
        found = self.texts.get(text)
        if found is None:
            found = self.texts[text] = compile_template(text, _build_names(self.item_name))
        return found


@dataclass(frozen=True)
class Plan:
    """A whole definition."""

    definition: WorkflowDefinition
    nodes: Mapping[str, PlanNode]
    order: tuple[str, ...]
    """Every step after those it depends on."""
    last: frozenset[str]
    """The steps that nothing comes after."""
    output: Value | Mapping[str, Value] | None

    @property
    def steps(self) -> int:
        return len(self.order)


def make_plan(definition: WorkflowDefinition) -> Plan:
    """The plan of a definition that has been found valid."""
    incoming: dict[str, dict[str, list[str] | None]] = {step.id: {} for step in definition.steps}
    errors: dict[str, list[str]] = {step.id: [] for step in definition.steps}
    for edge in definition.all_edges():
        before = incoming[edge.target]
        known = before.setdefault(edge.source, [])
        if edge.when is None or known is None:
            before[edge.source] = None  # one way without a condition is enough
        else:
            known.append(edge.when)
    for step in definition.steps:
        if step.route is not None:
            errors[step.route].append(step.id)
    after: dict[str, list[str]] = {step.id: [] for step in definition.steps}
    for target in incoming:
        for source in dict.fromkeys([*incoming[target], *errors[target]]):
            after[source].append(target)
    graph = {target: {*incoming[target], *errors[target]} for target in incoming}
    order = tuple(graphlib.TopologicalSorter(graph).static_order())
    nodes = {
        step.id: _build_node(step, _build_incoming(incoming[step.id], errors[step.id]), tuple(after[step.id]))
        for step in definition.steps
    }
    for step in definition.steps:
        nodes |= {back.id: _build_node(back, (), (), is_rollback=True) for back in step.rollback}
    routes = {step.route for step in definition.steps}
    last = frozenset(one for one, following in after.items() if not set(following) - routes)
    return Plan(definition, nodes, order, last, _compile_values(definition.output, _build_names("item")))


def _build_incoming(sources: Mapping[str, list[str] | None], errors: Iterable[str]) -> tuple[IncomingEdge, ...]:
    names = _build_names("item")
    ways = [
        IncomingEdge(source, tuple(compile_expression(text, names) for text in conditions or ()))
        for source, conditions in sources.items()
    ]
    return (*ways, *(IncomingEdge(source, on_error=True) for source in errors if source not in sources))


def _build_names(item: str) -> tuple[str, ...]:
    return (*_NAMES, item)


def _build_node(
    step: Step, incoming: tuple[IncomingEdge, ...], after: tuple[str, ...], *, is_rollback: bool = False
) -> PlanNode:
    each, loop = step.for_each, step.loop
    names = _build_names(each.name if each else "item")

    def one(text: str | None) -> Expression | None:
        return None if text is None else compile_expression(text, names)

    items = each.items if each else None
    return PlanNode(
        step=step,
        incoming=incoming,
        after=after,
        item_name=each.name if each else "item",
        when=one(step.when),
        items=one(items) if isinstance(items, str) else items,
        parallel=max(1, each.parallel) if each else 1,
        loop_max=loop.max if loop else 0,
        go_on=one(loop.while_) if loop else None,
        enough=one(loop.until) if loop else None,
        inputs=_compile_mapping(step.inputs, names),
        set=_compile_mapping(step.set or {}, names),
        output=_compile_values(step.output, names),
        save=_compile_mapping(step.save, names),
        is_plain=step.output is None and not step.save and loop is None,
        is_rollback=is_rollback,
    )


def _compile_mapping(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Value]:
    return {
        name: compile_expression(value, names) if isinstance(value, str) else value for name, value in values.items()
    }


def _compile_values(given: str | dict[str, Any] | None, names: tuple[str, ...]) -> Value | dict[str, Value] | None:
    if isinstance(given, str):
        return compile_expression(given, names)
    return None if given is None else _compile_mapping(given, names)


K = TypeVar("K")
V = TypeVar("V")


class NewestCache(Generic[K, V]):
    """The plan that was computed last, on the loop or in a thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: dict[K, V] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        return self._answers.get(key)

    def put(self, key: K, answer: V) -> None:
        with self._lock:
            while len(self._answers) >= self._most:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = answer


class PlanCache:
    """Plans by the digests of their definitions; the last ones used are kept."""

    def __init__(self) -> None:
        self._plans: NewestCache[str, Plan] = NewestCache(_KEPT)

    def get_known(self, digest: str) -> Plan | None:
        return self._plans.get(digest)

    def get(self, digest: str, definition: WorkflowDefinition) -> Plan:
        plan = self._plans.get(digest)
        if plan is None:
            plan = make_plan(definition)
            self._plans.put(digest, plan)
        return plan


PLANS = PlanCache()
