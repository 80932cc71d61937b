"""The rules for workflow runs: who may start one, and which news it accepts."""

from typing import Any

from greenroom.errors import Refused
from greenroom.expressions import BadExpression, ExpressionFailed, compile_template
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.runs.lineage import get_caller_taint
from greenroom.rules.workflows import decide_control, decide_definitions
from greenroom.rules.workflows.commands import StartWorkflow
from greenroom.rules.workflows.core.advance import advance
from greenroom.rules.workflows.core.board import MemoryBoard, build_facts, build_run
from greenroom.rules.workflows.core.news import Begin
from greenroom.rules.workflows.core.plan import PLANS
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.events import WorkflowBegan
from greenroom.rules.workflows.inputs import resolve_inputs
from greenroom.rules.workflows.model import FACTS, LIVE, WORKFLOW_RUNS, WORKFLOWS, WorkflowVersion
from greenroom.rules.workflows.queries import hash_definition, need_version, need_workflow
from greenroom.rules.workflows.taint import TAINT_CHARS

MOST_DEPTH = 10


def start_workflow(rows: Rows, command: StartWorkflow, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    if rows.get(WORKFLOW_RUNS, command.run_id) is not None:
        return []
    parent = rows.get(WORKFLOW_RUNS, command.parent_id) if command.parent_id else None
    if command.parent_id is not None and (parent is None or parent.status not in LIVE or by.kind != "hub"):
        raise Refused("workflow_over.parent", "conflict")
    if parent is not None and parent.depth + 1 > MOST_DEPTH:
        raise Refused("too_deep.workflow", "limited", limit=MOST_DEPTH)
    pinned = _get_inherited_pins(rows, command.parent_id)
    version = _need_started_version(rows, command, pinned)
    definition = version.definition
    inputs = resolve_inputs(definition, command.inputs)
    seconds = definition.limits.timeout_s
    plan = PLANS.get(version.digest, definition)
    began = copy_fields(
        command,
        WorkflowBegan,
        workflow=version.name,
        digest=version.digest,
        steps=plan.steps,
        root_id=parent.root_id if parent else command.run_id,
        inputs=inputs,
        variables=build_first_values(definition, inputs),
        pinned=_pin_definitions(rows, definition, pinned),
        depth=parent.depth + 1 if parent else 0,
        thread_id=command.thread_id or (parent.thread_id if parent else None),
        trigger=command.trigger[:200],
        taint=(command.taint or get_caller_taint(rows, by))[:TAINT_CHARS],
        due=context.now + seconds * 1000 if seconds else 0,
        directory=command.directory or (parent.directory if parent else None),
    )
    board = MemoryBoard(build_run(began, context.now, by.id), build_facts(began))
    return [began, *advance(plan, board, Begin(), context.now)]


def _get_inherited_pins(rows: Rows, parent_id: str | None) -> dict[str, str]:
    facts = rows.get(FACTS, parent_id) if parent_id else None
    return facts.pinned if facts else {}


def _need_started_version(rows: Rows, command: StartWorkflow, pinned: dict[str, str]) -> WorkflowVersion:
    if command.digest is not None:
        return need_version(rows, command.digest)
    if command.workflow in pinned:
        return need_version(rows, pinned[command.workflow])
    return need_version(rows, need_workflow(rows, command.workflow).digest)


def _pin_definitions(
    rows: Rows, definition: WorkflowDefinition, above: dict[str, str], depth: int = 0
) -> dict[str, str]:
    """The definitions that this one may start, as they are now, by name."""
    pinned = dict(above)
    for step in definition.steps:
        name = step.workflow
        if name is None or (name in pinned and name not in definition.workflows):
            continue
        inner = definition.workflows.get(name)
        stored = rows.get(WORKFLOWS, name) if inner is None else None
        if inner is None and stored is not None:
            inner = need_version(rows, stored.digest).definition
        if inner is not None:
            pinned[name] = hash_definition(inner)
            pinned = _pin_definitions(rows, inner, pinned, depth + 1) if depth < MOST_DEPTH else pinned
    return pinned


def build_first_values(definition: WorkflowDefinition, inputs: dict[str, Any]) -> dict[str, Any]:
    """The variables as they are at first: a text may hold expressions over the inputs."""
    out: dict[str, Any] = {}
    for name, value in definition.variables.items():
        out[name] = value
        if isinstance(value, str) and "{{" in value:
            try:
                out[name] = compile_template(value, ("inputs",)).render({"inputs": inputs})
            except (BadExpression, ExpressionFailed) as error:
                raise Refused("bad_input.variable", name=name, error=error) from error
    return out


DECIDE: dict[type[Command], Decide] = {
    StartWorkflow: start_workflow,
    **decide_definitions.DECIDE,
    **decide_control.DECIDE,
}
