"""Checks the triggers of a workflow."""

from collections.abc import Iterator
from typing import Literal

from greenroom.expressions import BadExpression, compile_expression
from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.cron import find_cron_error, find_timezone_error
from greenroom.rules.workflows.definition import Trigger, TriggerKind, WorkflowDefinition
from greenroom.rules.workflows.inputs import find_value_problem
from greenroom.sentences import Words, build_sentence

MAX_TRIGGERS = 20
TRIGGER_FACTS: dict[TriggerKind, frozenset[str]] = {
    "cron": frozenset(("kind", "time", "scheduled_at")),
    "webhook": frozenset(("kind", "body", "headers")),
    "message": frozenset(("kind", "id", "thread_id", "author", "content", "seq")),
    "after": frozenset(("kind", "run_id", "workflow", "status", "output")),
}


def get_trigger_kind(trigger: Trigger) -> TriggerKind | Literal[""]:
    """cron, webhook, message or after; empty when the trigger does not say exactly one."""
    given = [key for key in TRIGGER_FACTS if getattr(trigger, key)]
    return given[0] if len(given) == 1 else ""


def check_triggers(definition: WorkflowDefinition) -> Iterator[Problem]:
    """Problems of the triggers, and of the inputs that they bring."""
    if len(definition.triggers) > MAX_TRIGGERS:
        message = build_sentence("workflow_problem.too_many_triggers", limit=MAX_TRIGGERS)
        remedy: Words = build_sentence("workflow_remedy.take_away")
        yield Problem(code="too_many_triggers", message=message, remedy=remedy, path=("triggers",))
    seen: set[str] = set()
    for at, trigger in enumerate(definition.triggers):
        path: Path = ("triggers", at)
        for code, problem, remedy, key in _check_trigger(trigger, definition):
            message = build_sentence("workflow_problem.in_trigger", trigger=trigger.id, problem=problem)
            yield Problem(code=code, message=message, remedy=remedy, path=(*path, *key))
        if trigger.id in seen:
            message = build_sentence("workflow_problem.double_trigger", trigger=trigger.id)
            remedy = build_sentence("workflow_remedy.another_id")
            yield Problem(code="duplicate_trigger", message=message, remedy=remedy, path=(*path, "id"))
        seen.add(trigger.id)


def _check_trigger(trigger: Trigger, definition: WorkflowDefinition) -> Iterator[tuple[str, Words, Words, Path]]:
    kind = get_trigger_kind(trigger)
    if not kind:
        kinds = build_sentence("workflow_remedy.trigger_kind")
        yield "wrong_kind", build_sentence("workflow_problem.trigger_kind"), kinds, ()
        return
    if trigger.cron:
        wrong = find_cron_error(trigger.cron)
        if wrong:
            message = build_sentence("field", name="cron", problem=wrong)
            yield "bad_cron", message, build_sentence("workflow_remedy.cron"), ("cron",)
    wrong = find_timezone_error(trigger.timezone)
    if wrong:
        message = build_sentence("field", name="timezone", problem=wrong)
        yield "bad_timezone", message, build_sentence("workflow_remedy.timezone"), ("timezone",)
    for name, value in trigger.inputs.items():
        if name not in definition.inputs:
            message = build_sentence("workflow_problem.trigger_input_unknown", name=name[:64])
            yield "unknown_input", message, suggest_nearest(name, definition.inputs), ("inputs", name)
        elif not isinstance(value, str) and (wrong := find_value_problem(definition.inputs[name], value)):
            remedy = build_sentence("workflow_remedy.value_or_expression", type=definition.inputs[name].type)
            message = build_sentence("workflow_problem.trigger_input", name=name, problem=wrong)
            yield "wrong_type", message, remedy, ("inputs", name)
        if isinstance(value, str):
            try:
                compile_expression(value, {"trigger": TRIGGER_FACTS[kind]})
            except BadExpression as bad:
                message = build_sentence("field", name=f"inputs.{name}", problem=bad.problem)
                yield "bad_expression", message, bad.remedy or build_sentence("workflow_remedy.mend"), ("inputs", name)
    for name, one in definition.inputs.items():
        if one.required and name not in trigger.inputs:
            message = build_sentence("workflow_problem.trigger_input_missing", name=name)
            yield "missing_input", message, build_sentence("workflow_remedy.trigger_input", name=name), ("inputs",)
