"""Checks each part of a workflow by itself: ids, numbers, kinds of steps, defaults of inputs, schemas."""

import re
from collections.abc import Iterator
from typing import Any

from greenroom.expressions import RESERVED
from greenroom.rules.workflows.checks.problems import Path, Problem
from greenroom.rules.workflows.definition import Input, Level, Step, WaitConfig, WorkflowDefinition
from greenroom.rules.workflows.inputs import check_value
from greenroom.rules.workflows.names import EVERYWHERE
from greenroom.rules.workflows.output_schema import find_output_schema_error

MAX_STEPS = 5000
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_WORK = ("prompt", "workflow", "wait", "set")
Told = tuple[str, str, str, Path]
"""code, message, remedy, and the path from the step on"""


def build_too_many_steps() -> Problem:
    """What is wrong with a definition of more than MAX_STEPS steps."""
    message = f"there are more than {MAX_STEPS} steps"
    return Problem(code="too_many_steps", message=message, remedy="use for_each, or nested workflows", path=("steps",))


def check_shape(definition: WorkflowDefinition) -> Iterator[Problem]:
    """Problems of single parts."""
    if not definition.steps:
        yield Problem(code="no_steps", message="there are no steps", remedy="write at least one", path=("steps",))
    if not definition.name.strip() or len(definition.name) > 200:
        message = "the name must have 1 to 200 characters"
        yield Problem(code="bad_name", message=message, remedy="write name: ...", path=("name",))
    for kind, names in (("inputs", definition.inputs), ("variables", definition.variables)):
        for name in names:
            if not _NAME.fullmatch(name):
                message = f"'{name[:64]}' cannot be named in expressions"
                remedy = "use letters, digits and _, beginning with a letter"
                yield Problem(code="bad_id", message=message, remedy=remedy, path=(kind, name))
    for name, one in definition.inputs.items():
        yield from _check_input(name, one)
    seen: dict[str, int] = {}
    for at, step in enumerate(definition.steps):
        for code, message, remedy, path in _check_step(step):
            yield Problem(code=code, message=message, remedy=remedy, path=("steps", at, *path), step=step.id)
        if step.id in seen:
            message = f"there are two steps '{step.id}'"
            yield Problem(
                code="duplicate_step",
                message=message,
                remedy="give one another id",
                path=("steps", at, "id"),
                step=step.id,
            )
        seen[step.id] = at


def _check_input(name: str, one: Input) -> Iterator[Problem]:
    values = [("default", one.default)] if not one.required and one.default is not None else []
    values += [("choices", choice) for choice in one.choices]
    for key, value in values:
        wrong = check_value(one if key == "default" else Input(type=one.type), value)
        if wrong:
            message = f"the input '{name}' has a {key} that {wrong}"
            yield Problem(
                code="wrong_type",
                message=message,
                remedy=f"write a value of the type {one.type}",
                path=("inputs", name, key),
            )


def _check_step(step: Step) -> Iterator[Told]:
    if not _ID.fullmatch(step.id):
        remedy = "use 1 to 64 letters, digits, '_', '-' or '.'"
        yield "bad_id", f"'{step.id[:64]}' is no id", remedy, ("id",)
    if step.skill is not None and not _ID.fullmatch(step.skill):
        yield "bad_id", f"'{step.skill[:64]}' is no skill's name", "write the name of its folder", ("skill",)
    yield from _check_kind(step)
    yield from _check_numbers(step)
    if step.for_each is not None and step.loop is not None:
        yield "wrong_kind", "for_each and loop do not go together", "loop inside a nested workflow", ("loop",)
    if step.for_each is not None and not _can_be_item(step.for_each.name):
        yield "bad_id", f"'{step.for_each.name[:64]}' cannot be the item's name", "write as: item", ("for_each", "as")
    if step.loop is not None and (step.loop.while_ is None) == (step.loop.until is None):
        yield "wrong_kind", "a loop needs one condition", "write either while: or until:", ("loop",)
    if step.wait is not None:
        yield from _check_wait(step.wait)
    if step.on_error not in ("abort", "skip", "ignore") and not step.route:
        yield "wrong_value", f"on_error: '{step.on_error[:64]}' is not known", _ON_ERROR, ("on_error",)
    yield from _check_level(step.level)
    yield from _check_schema(step.output_schema)
    for at, inner in enumerate(step.rollback):
        for code, message, remedy, path in _check_step(inner):
            yield code, f"in its rollback: {message}", remedy, ("rollback", at, *path)
        if inner.rollback or inner.kind != "agent":
            yield "wrong_kind", "a rollback is done by an agent", "write a prompt or a skill", ("rollback", at)


_ON_ERROR = "write abort, skip, ignore or route:STEP"


def _can_be_item(name: str) -> bool:
    taken = EVERYWHERE | RESERVED | {"index", "input", "output", "round", "trigger"}
    return _NAME.fullmatch(name) is not None and name not in taken


def _check_kind(step: Step) -> Iterator[Told]:
    given = [key for key in _WORK if getattr(step, key) is not None]
    if step.skill is not None and "prompt" not in given:
        given.append("skill")
    if len(given) > 1:
        told = " and ".join(given)
        yield "wrong_kind", f"it has {told}, and can do only one of them", "make two steps of it", (given[1],)
    if not given and (step.profile or step.agent_runtime or step.reuse_agent or step.level.kind == "mechanical"):
        remedy = "write prompt: ..., or one of skill, workflow, wait and set, or a level that asks people"
        yield "nothing_to_do", "it says nothing that is to be done", remedy, ()


def _check_numbers(step: Step) -> Iterator[Told]:
    retry, each, loop = step.retry, step.for_each, step.loop
    for path, value, least, most in (
        (("retry", "max"), retry.max, 0, 100),
        (("retry", "backoff_s"), retry.backoff_s, 0, 86_400),
        (("retry", "factor"), retry.factor, 1, 100),
        (("retry", "max_backoff_s"), retry.max_backoff_s, 0, 604_800),
        (("retry", "jitter"), retry.jitter, 0, 1),
        (("timeout_s",), step.timeout_s, 1, 2_592_000),
        (("agent_config", "timeout_s"), step.agent_config.timeout_s, 1, 2_592_000),
        (("agent_config", "temperature"), step.agent_config.temperature, 0, 2),
        (("agent_config", "max_tokens"), step.agent_config.max_tokens, 1, 10**12),
        (("level", "timeout_s"), step.level.timeout_s, 1, 31_536_000),
        (("for_each", "parallel"), each.parallel if each else None, 1, 1000),
        (("loop", "max"), loop.max if loop else None, 1, 10_000),
    ):
        if value is not None and not least <= value <= most:
            yield "wrong_value", f"{'.'.join(path)} is {value}", f"write a number from {least} to {most}", path


def _check_wait(wait: WaitConfig) -> Iterator[Told]:
    given = [key for key in ("seconds", "until", "message", "webhook") if getattr(wait, key) is not None]
    if len(given) != 1:
        message = f"it waits for {' and '.join(given) or 'nothing'}"
        yield "wrong_kind", message, "write exactly one of seconds, until, message and webhook", ("wait",)
    if isinstance(wait.seconds, int | float) and not 0 <= wait.seconds <= 31_536_000:
        yield "wrong_value", f"wait.seconds is {wait.seconds}", "write a number from 0 to 31536000", ("wait", "seconds")
    if wait.webhook is not None and not _ID.fullmatch(wait.webhook):
        yield "bad_id", "the webhook's name is no id", "use letters, digits, '_', '-' or '.'", ("wait", "webhook")


def _check_level(level: Level) -> Iterator[Told]:
    if level.kind == "arbitrated" and not level.stakeholders:
        remedy = "write stakeholders: [names]"
        yield "wrong_value", "an arbitrated level needs to know who is asked", remedy, ("level", "stakeholders")
    if level.quorum is not None and not 1 <= level.quorum <= max(1, len(level.stakeholders)):
        remedy = f"write a number from 1 to {max(1, len(level.stakeholders))}"
        yield "wrong_value", f"level.quorum is {level.quorum}", remedy, ("level", "quorum")


def _check_schema(schema: dict[str, Any] | None) -> Iterator[Told]:
    wrong = find_output_schema_error(schema) if schema is not None else ""
    if wrong:
        yield "bad_schema", f"its output_schema {wrong}", "see json-schema.org, or leave it out", ("output_schema",)
