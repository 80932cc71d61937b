"""How a step starts: the edges that lead to it, its condition, the people it asks, and the attempt itself."""

from typing import Any, Literal

from greenroom.clock import parse_iso
from greenroom.expressions import ExpressionFailed
from greenroom.rules.workflows.core.news import Interrupted
from greenroom.rules.workflows.core.plan import IncomingEdge, PlanNode
from greenroom.rules.workflows.core.state import is_working
from greenroom.rules.workflows.core.transition import Transition, derive_id, evaluate_mapping
from greenroom.rules.workflows.definition import Level
from greenroom.rules.workflows.events import StepAsked, StepBegan, StepFanned, StepHeld, StepQueued
from greenroom.rules.workflows.model import StepWait, WorkflowStep, WorkflowUsage, build_item_id
from greenroom.sentences import Sentence, build_sentence

_AttemptState = tuple[Literal["running", "waiting"], StepWait, int, bool]
MOST_ITEMS = 10_000
RECOMMENDED_TIMEOUT_S = 300


class BadStepValue(Exception):
    """A value that an expression gave cannot be used; `said` says why."""

    def __init__(self, said: Sentence) -> None:
        super().__init__(str(said))
        self.said = said


def decide_start(transition: Transition, step_id: str, _: Any) -> None:
    """All steps before it are over: start it, or skip it."""
    node, step = transition.node(step_id), transition.step(step_id)
    if transition.run.status != "running":
        _hold(transition, step_id, leave=False)
        return
    try:
        taken = [_is_taken(transition, edge) for edge in node.incoming]
        if taken and not (any(taken) if node.step.join == "any" else all(taken)):
            transition.schedule("skip", step_id, build_sentence("step_reason.no_way"))
        elif node.when is not None and not node.when.holds(transition.values(step, node.when)):
            transition.schedule("skip", step_id, build_sentence("step_reason.condition", condition=node.step.when))
        else:
            transition.schedule("permission", step_id)
    except ExpressionFailed as failed:
        transition.schedule("fail", step_id, ("expression", failed.said))


def _hold(transition: Transition, step_id: str, *, leave: bool) -> None:
    if transition.run.status == "paused":
        transition.emit(StepHeld(run_id=transition.run.id, step=step_id, leave=leave))


def _is_taken(transition: Transition, edge: IncomingEdge) -> bool:
    source = transition.step(edge.source)
    if edge.on_error:
        return source.status == "failed" and not source.debt
    if source.status != "completed" and not source.debt:
        return False
    seen = transition.values(None, *edge.conditions, output=source.output)
    return not edge.conditions or any(condition.holds(seen) for condition in edge.conditions)


def ask_permission(transition: Transition, step_id: str, _: Any) -> None:
    """Ask people first where the step's level says so; begin otherwise."""
    node = transition.node(step_id)
    level = node.step.level
    if level.kind == "mechanical":
        transition.schedule("pass" if node.kind == "gate" else "start", step_id)
        return
    seconds = (level.timeout_s or RECOMMENDED_TIMEOUT_S) if level.kind == "recommended" else level.timeout_s
    number, before = transition.step(step_id).attempt + 1, transition.step(step_id).waits_for
    transition.emit(
        StepAsked(
            run_id=transition.run.id,
            step=step_id,
            ask_id=derive_id(
                "ask", transition.now, transition.run.id, step_id, number, "leave", before and str(before)
            ),
            due=transition.now + seconds * 1000 if seconds else 0,
            reason=_describe_asked(level),
        )
    )


LEVEL_WORDS = {
    "recommended": build_sentence("step_level.recommended"),
    "confirmed": build_sentence("step_level.confirmed"),
    "arbitrated": build_sentence("step_level.arbitrated"),
}


def _describe_asked(level: Level) -> Sentence:
    kind, people = LEVEL_WORDS[level.kind], level.stakeholders
    if not people:
        return build_sentence("step_reason.first_asked", level=kind)
    if level.kind != "arbitrated":
        return build_sentence("step_reason.first_agree", level=kind, people=people)
    count = level.quorum or len(set(people))
    return build_sentence("step_reason.first_agree_some", level=kind, count=count, people=people)


def start_step(transition: Transition, step_id: str, _: Any) -> None:
    """Begin a step: a fan-out opens, anything else makes an attempt."""
    node = transition.node(step_id)
    if node.items is None:
        make_attempt(transition, step_id, None)
        return
    try:
        items = node.items
        if not isinstance(items, list):
            items = items.evaluate(transition.values(transition.step(step_id), items))
        if not isinstance(items, list):
            raise BadStepValue(build_sentence("step_error.expression_kind", value=_render_value(items)))
        if len(items) > MOST_ITEMS:
            raise BadStepValue(build_sentence("step_error.too_many_items", count=len(items), limit=MOST_ITEMS))
    except (ExpressionFailed, BadStepValue) as error:
        transition.schedule("fail", step_id, ("expression", error.said))
        return
    kept = _find_kept_items(transition, transition.step(step_id), items)
    transition.emit(StepFanned(run_id=transition.run.id, step=step_id, items=items, kept=kept))
    if len(kept) == len(items):
        transition.schedule("join", step_id)
    for place in range(min(node.parallel, len(items) - len(kept))):
        transition.schedule("attempt", build_item_id(step_id, find_unkept_index(kept, place)))


def _find_kept_items(transition: Transition, fan: WorkflowStep, items: list[Any]) -> list[int]:
    """The items of a fan-out that is retried which were completed, and are the same as then."""
    before = [transition.step(build_item_id(fan.id, index)) for index in range(min(fan.total, len(items)))]
    return [at for at, one in enumerate(before) if one.status == "completed" and one.item == items[at]]


def find_unkept_index(kept: list[int], place: int) -> int:
    """The index of an item, counted among those that are not kept."""
    for index in kept:
        if index > place:
            break
        place += 1
    return place


def _render_value(value: object) -> str:
    return repr(value)[:60]


def make_attempt(transition: Transition, step_id: str, interrupted: Interrupted | None) -> None:
    """Start an attempt, unless the run is paused or has as many as `max_parallel` allows."""
    run, node, step = transition.run, transition.node(step_id), transition.step(step_id)
    if run.status != "running" and not node.is_rollback:
        _hold(transition, step_id, leave=True)
        return
    is_counted = node.kind in ("agent", "workflow", "set")
    others = run.working - is_working(step)
    if is_counted and others >= transition.plan.definition.limits.max_parallel and not node.is_rollback:
        transition.emit(StepQueued(run_id=run.id, step=step_id))
        return
    number = step.attempt + 1
    try:
        status, waits_for, due, dated = _choose_attempt_state(transition, node, step, number)
    except (ExpressionFailed, BadStepValue) as error:
        transition.schedule("fail", step_id, ("expression", error.said))
        return
    transition.emit(
        StepBegan(
            run_id=run.id,
            step=step_id,
            attempt=number,
            status=status,
            waits_for=waits_for,
            due=due,
            dated=dated,
            tries=step.tries + 1,
            round=step.round,
            resumed=interrupted.agent_run if interrupted and interrupted.can_resume else None,
            spent=interrupted.spent if interrupted else WorkflowUsage(),
            rollback=node.is_rollback,
        )
    )


def _choose_attempt_state(transition: Transition, node: PlanNode, step: WorkflowStep, number: int) -> _AttemptState:
    """The attempt's status, what it waits for, and until when."""
    about = (transition.run.id, step.id, number)
    seconds = node.step.timeout_s
    due = transition.now + seconds * 1000 if seconds else 0
    match node.kind:
        case "agent":
            return "running", StepWait("run", derive_id("run", transition.now, *about)), due, False
        case "workflow":
            return "running", StepWait("workflow", derive_id("wfr", transition.now, *about)), due, False
        case "set":
            return "running", StepWait("engine"), due, False
        case _:
            return _choose_wait_state(transition, node, step, due)


def _choose_wait_state(transition: Transition, node: PlanNode, step: WorkflowStep, due: int) -> _AttemptState:
    wait = node.step.wait
    assert wait is not None  # noqa: S101 gates never come here
    if wait.webhook is not None:
        return "waiting", StepWait("webhook", wait.webhook), due, False
    if wait.message is not None:
        text = node.template(wait.message.thread)
        thread = text.render(transition.values(step, text, input=build_own_inputs(transition, node, step)))
        return "waiting", StepWait("message", thread), due, False
    if wait.until is not None:
        return "waiting", StepWait("time"), _parse_time(_evaluate_text(transition, node, step, wait.until)), True
    value = wait.seconds
    if isinstance(value, str):
        value = _evaluate_text(transition, node, step, value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**10:
        raise BadStepValue(build_sentence("step_error.seconds", value=_render_value(value)))
    return "waiting", StepWait("time"), max(transition.now + int(value * 1000), 1), False


def _evaluate_text(transition: Transition, node: PlanNode, step: WorkflowStep, text: str) -> Any:
    expression = node.expression(text)
    return expression.evaluate(transition.values(step, expression, input=build_own_inputs(transition, node, step)))


def _parse_time(value: Any) -> int:
    try:
        time_ms = parse_iso(value) if isinstance(value, str) else value
    except ValueError:
        time_ms = None
    if isinstance(time_ms, bool) or not isinstance(time_ms, int | float) or not 0 <= time_ms < 10**14:
        raise BadStepValue(build_sentence("step_error.until", value=_render_value(value)))
    return max(int(time_ms), 1)


def build_own_inputs(transition: Transition, node: PlanNode, step: WorkflowStep) -> dict[str, Any]:
    """The step's own inputs, `input` in its texts."""
    if not node.inputs:
        return {}
    values: dict[str, Any] = evaluate_mapping(node.inputs, transition.values(step, node.inputs))
    return values
