"""Finds every expression and template of a workflow, with its place."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from greenroom.rules.workflows.checks.problems import Path
from greenroom.rules.workflows.definition import Step
from greenroom.rules.workflows.names import Place


class StepText(NamedTuple):
    """One text: its place within the step, what it is, and the names that it may use."""

    path: Path
    form: Literal["expression", "condition", "template"]
    text: str
    place: Place


def find_texts(step: Step) -> Iterator[StepText]:
    """The texts of one step; its rollback steps are steps of their own."""
    if step.when is not None:
        yield StepText(("when",), "condition", step.when, "when")
    if step.for_each is not None and isinstance(step.for_each.items, str):
        yield StepText(("for_each", "items"), "expression", step.for_each.items, "when")
    yield from find_value_texts(("inputs",), step.inputs, "inputs")
    if step.set is not None:
        yield from find_value_texts(("set",), step.set, "work")
    config, wait = step.agent_config, step.wait
    for path, template in (
        (("prompt",), step.prompt),
        (("level", "question"), step.level.question),
        (("agent_config", "system_prompt"), config.system_prompt),
        (("agent_config", "work_dir"), config.work_dir),
        (("wait", "message", "thread"), wait.message.thread if wait is not None and wait.message is not None else None),
        *((("files", at), file) for at, file in enumerate(step.files)),
    ):
        if template:
            yield StepText(path, "template", template, "work")
    if wait is not None:
        for key, value in (("seconds", wait.seconds), ("until", wait.until)):
            if isinstance(value, str):
                yield StepText(("wait", key), "expression", value, "work")
    yield from find_value_texts(("output",), step.output, "result")
    yield from find_value_texts(("save",), step.save, "result")
    if step.loop is not None:
        for key, condition in (("while", step.loop.while_), ("until", step.loop.until)):
            if condition is not None:
                yield StepText(("loop", key), "condition", condition, "result")


def find_value_texts(path: Path, written: str | dict[str, Any] | None, place: Place) -> Iterator[StepText]:
    """The expressions among values: a text is one, anything else is the value itself."""
    if isinstance(written, str):
        yield StepText(path, "expression", written, place)
    elif written is not None:
        for name, value in written.items():
            if isinstance(value, str):
                yield StepText((*path, name), "expression", value, place)
