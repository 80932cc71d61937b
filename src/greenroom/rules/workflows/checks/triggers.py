"""Checks the triggers of a workflow."""

from collections.abc import Iterator

from greenroom.expressions import BadExpression, compile_expression
from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.cron import find_cron_error, find_timezone_error
from greenroom.rules.workflows.definition import Trigger, WorkflowDefinition
from greenroom.rules.workflows.inputs import check_value

MAX_TRIGGERS = 20
TRIGGER_FACTS: dict[str, frozenset[str]] = {
    "cron": frozenset(("kind", "time", "scheduled_at")),
    "webhook": frozenset(("kind", "body", "headers")),
    "message": frozenset(("kind", "id", "thread_id", "author", "content", "seq")),
    "after": frozenset(("kind", "run_id", "workflow", "status", "output")),
}


def get_trigger_kind(trigger: Trigger) -> str:
    """cron, webhook, message or after; empty when the trigger does not say exactly one."""
    given = [key for key in TRIGGER_FACTS if getattr(trigger, key)]
    return given[0] if len(given) == 1 else ""


def check_triggers(definition: WorkflowDefinition) -> Iterator[Problem]:
    """Problems of the triggers, and of the inputs that they bring."""
    if len(definition.triggers) > MAX_TRIGGERS:
        message = f"there are more than {MAX_TRIGGERS} triggers"
        yield Problem(code="too_many_triggers", message=message, remedy="take some away", path=("triggers",))
    seen: set[str] = set()
    for at, trigger in enumerate(definition.triggers):
        path: Path = ("triggers", at)
        for code, message, remedy, key in _check_trigger(trigger, definition):
            yield Problem(code=code, message=f"trigger '{trigger.id}': {message}", remedy=remedy, path=(*path, *key))
        if trigger.id in seen:
            message = f"there are two triggers '{trigger.id}'"
            yield Problem(code="duplicate_trigger", message=message, remedy="give one another id", path=(*path, "id"))
        seen.add(trigger.id)


def _check_trigger(trigger: Trigger, definition: WorkflowDefinition) -> Iterator[tuple[str, str, str, Path]]:
    kind = get_trigger_kind(trigger)
    if not kind:
        yield "wrong_kind", "it must say what it waits for", "write one of cron, webhook, message and after", ()
        return
    if trigger.cron:
        wrong = find_cron_error(trigger.cron)
        if wrong:
            yield "bad_cron", f"cron: {wrong}", "write minute hour day month weekday, such as 0 3 * * 1-5", ("cron",)
    wrong = find_timezone_error(trigger.timezone)
    if wrong:
        yield "bad_timezone", f"timezone: {wrong}", "write a name such as Europe/Berlin or UTC", ("timezone",)
    for name, value in trigger.inputs.items():
        if name not in definition.inputs:
            message = f"the workflow has no input '{name[:64]}'"
            yield "unknown_input", message, suggest_nearest(name, definition.inputs), ("inputs", name)
        elif not isinstance(value, str) and (wrong := check_value(definition.inputs[name], value)):
            remedy = f"write a value of the type {definition.inputs[name].type}, or an expression that gives one"
            yield "wrong_type", f"what it gives the input '{name}' {wrong}", remedy, ("inputs", name)
        if isinstance(value, str):
            try:
                compile_expression(value, {"trigger": TRIGGER_FACTS[kind]})
            except BadExpression as bad:
                message, _, remedy = bad.message.partition("; ")
                yield "bad_expression", f"inputs.{name}: {message}", remedy or "mend it", ("inputs", name)
    for name, one in definition.inputs.items():
        if one.required and name not in trigger.inputs:
            message = f"nobody brings the input '{name}'"
            yield "missing_input", message, f"write it under the trigger's inputs: {name}: ...", ("inputs",)
