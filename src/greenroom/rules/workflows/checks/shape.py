"""Checks each part of a workflow by itself: ids, numbers, kinds of steps, defaults of inputs, schemas."""

import re
from collections.abc import Iterator
from typing import Any

from greenroom.expressions import RESERVED
from greenroom.rules.workflows.checks.problems import Path, Problem
from greenroom.rules.workflows.definition import Input, Level, Step, WaitConfig, WorkflowDefinition
from greenroom.rules.workflows.inputs import find_value_problem
from greenroom.rules.workflows.names import EVERYWHERE
from greenroom.rules.workflows.output_schema import find_output_schema_error
from greenroom.sentences import Sentence, build_sentence, join_with_and

MAX_STEPS = 5000
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_WORK_KEYS = ("prompt", "workflow", "wait", "set")
PartProblem = tuple[str, Sentence, Sentence, Path]
"""code, message, remedy, and the path from the step on"""


def build_too_many_steps_problem() -> Problem:
    """What is wrong with a definition of more than MAX_STEPS steps."""
    message = build_sentence("workflow_problem.too_many_steps", limit=MAX_STEPS)
    remedy = build_sentence("workflow_remedy.split_steps")
    return Problem(code="too_many_steps", message=message, remedy=remedy, path=("steps",))


def check_shape(definition: WorkflowDefinition) -> Iterator[Problem]:
    """Problems of single parts."""
    if not definition.steps:
        message, remedy = build_sentence("workflow_problem.no_steps"), build_sentence("workflow_remedy.write_one")
        yield Problem(code="no_steps", message=message, remedy=remedy, path=("steps",))
    if not definition.name.strip() or len(definition.name) > 200:
        message, remedy = build_sentence("workflow_problem.bad_name"), build_sentence("workflow_remedy.name")
        yield Problem(code="bad_name", message=message, remedy=remedy, path=("name",))
    for kind, names in (("inputs", definition.inputs), ("variables", definition.variables)):
        for name in names:
            if not _NAME.fullmatch(name):
                message = build_sentence("workflow_problem.bad_value_name", name=name[:64])
                remedy = build_sentence("workflow_remedy.value_name")
                yield Problem(code="bad_id", message=message, remedy=remedy, path=(kind, name))
    for name, one in definition.inputs.items():
        yield from _check_input(name, one)
    seen: set[str] = set()
    for at, step in enumerate(definition.steps):
        for code, message, remedy, path in _check_step(step):
            yield Problem(code=code, message=message, remedy=remedy, path=("steps", at, *path), step=step.id)
        if step.id in seen:
            message = build_sentence("workflow_problem.double_step", step=step.id)
            remedy = build_sentence("workflow_remedy.another_id")
            path = ("steps", at, "id")
            yield Problem(code="duplicate_step", message=message, remedy=remedy, path=path, step=step.id)
        seen.add(step.id)


def _check_input(name: str, one: Input) -> Iterator[Problem]:
    values = [("default", one.default)] if not one.required and one.default is not None else []
    values += [("choices", choice) for choice in one.choices]
    for key, value in values:
        wrong = find_value_problem(one if key == "default" else Input(type=one.type), value)
        if wrong:
            message = build_sentence("workflow_problem.input_default", name=name, key=key, problem=wrong)
            remedy = build_sentence("workflow_remedy.value", type=one.type)
            yield Problem(code="wrong_type", message=message, remedy=remedy, path=("inputs", name, key))


def _check_step(step: Step) -> Iterator[PartProblem]:
    if not _ID.fullmatch(step.id):
        no_id = build_sentence("workflow_problem.no_id", id=step.id[:64])
        yield "bad_id", no_id, build_sentence("workflow_remedy.id"), ("id",)
    if step.skill is not None and not _ID.fullmatch(step.skill):
        no_name = build_sentence("workflow_problem.no_skill_name", skill=step.skill[:64])
        yield "bad_id", no_name, build_sentence("workflow_remedy.folder"), ("skill",)
    yield from _check_kind(step)
    yield from _check_numbers(step)
    yield from _check_repetition(step)
    if step.wait is not None:
        yield from _check_wait(step.wait)
    if step.on_error not in ("abort", "skip", "ignore") and not step.route:
        unknown = build_sentence("workflow_problem.on_error", value=step.on_error[:64])
        yield "wrong_value", unknown, build_sentence("workflow_remedy.on_error"), ("on_error",)
    yield from _check_level(step.level)
    yield from _check_schema(step.output_schema)
    for at, inner in enumerate(step.rollback):
        for code, problem, remedy, path in _check_step(inner):
            message = build_sentence("workflow_problem.in_rollback", problem=problem)
            yield code, message, remedy, ("rollback", at, *path)
        if inner.rollback or inner.kind != "agent":
            no_agent = build_sentence("workflow_problem.rollback_kind")
            yield "wrong_kind", no_agent, build_sentence("workflow_remedy.prompt_or_skill"), ("rollback", at)


def _check_repetition(step: Step) -> Iterator[PartProblem]:
    """Check the loop and the fan-out of a step."""
    if step.for_each is not None and step.loop is not None:
        both = build_sentence("workflow_problem.foreach_and_loop")
        yield "wrong_kind", both, build_sentence("workflow_remedy.nested_loop"), ("loop",)
    if step.for_each is not None and not _can_name_item(step.for_each.name):
        bad_name = build_sentence("workflow_problem.bad_item_name", name=step.for_each.name[:64])
        yield "bad_id", bad_name, build_sentence("workflow_remedy.item_name"), ("for_each", "as")
    if step.loop is not None and (step.loop.while_ is None) == (step.loop.until is None):
        message = build_sentence("workflow_problem.loop_condition")
        yield "wrong_kind", message, build_sentence("workflow_remedy.one_condition"), ("loop",)


def _can_name_item(name: str) -> bool:
    taken = EVERYWHERE | RESERVED | {"index", "input", "output", "round", "trigger"}
    return _NAME.fullmatch(name) is not None and name not in taken


def _check_kind(step: Step) -> Iterator[PartProblem]:
    given = [key for key in _WORK_KEYS if getattr(step, key) is not None]
    if step.skill is not None and "prompt" not in given:
        given.append("skill")
    if len(given) > 1:
        message = build_sentence("workflow_problem.two_works", keys=join_with_and(given))
        yield "wrong_kind", message, build_sentence("workflow_remedy.two_steps"), (given[1],)
    if not given and (step.profile or step.agent_runtime or step.reuse_agent or step.level.kind == "mechanical"):
        message = build_sentence("workflow_problem.nothing_to_do")
        yield "nothing_to_do", message, build_sentence("workflow_remedy.work"), ()


def _check_numbers(step: Step) -> Iterator[PartProblem]:
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
            yield _build_range_problem(path, value, least, most)


def _check_wait(wait: WaitConfig) -> Iterator[PartProblem]:
    given = [key for key in ("seconds", "until", "message", "webhook") if getattr(wait, key) is not None]
    if len(given) != 1:
        nothing = build_sentence("workflow_problem.waits_for_nothing")
        many = build_sentence("workflow_problem.waits_for", keys=join_with_and(given)) if given else nothing
        yield "wrong_kind", many, build_sentence("workflow_remedy.one_wait"), ("wait",)
    if isinstance(wait.seconds, int | float) and not 0 <= wait.seconds <= 31_536_000:
        yield _build_range_problem(("wait", "seconds"), wait.seconds, 0, 31_536_000)
    if wait.webhook is not None and not _ID.fullmatch(wait.webhook):
        message = build_sentence("workflow_problem.no_webhook_name")
        yield "bad_id", message, build_sentence("workflow_remedy.webhook_name"), ("wait", "webhook")


def _check_level(level: Level) -> Iterator[PartProblem]:
    if level.kind == "arbitrated" and not level.stakeholders:
        message = build_sentence("workflow_problem.arbitrated_by_nobody")
        yield "wrong_value", message, build_sentence("workflow_remedy.stakeholders"), ("level", "stakeholders")
    most = max(1, len(level.stakeholders))
    if level.quorum is not None and not 1 <= level.quorum <= most:
        yield _build_range_problem(("level", "quorum"), level.quorum, 1, most)


def _build_range_problem(path: tuple[str, ...], value: float, least: int, most: int) -> PartProblem:
    message = build_sentence("workflow_problem.key_value", key=".".join(path), value=value)
    return "wrong_value", message, build_sentence("workflow_remedy.range", least=least, most=most), path


def _check_schema(schema: dict[str, Any] | None) -> Iterator[PartProblem]:
    wrong = find_output_schema_error(schema) if schema is not None else None
    if wrong:
        message = build_sentence("workflow_problem.bad_schema", problem=wrong)
        yield "bad_schema", message, build_sentence("workflow_remedy.schema"), ("output_schema",)
