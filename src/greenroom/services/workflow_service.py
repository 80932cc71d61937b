"""Starts runs of workflows and waits for them, for the doors."""

from typing import Any

from greenroom.ids import new_id
from greenroom.log.log import Log
from greenroom.log.row_waiter import wait_for_row
from greenroom.rules.access.model import Principal
from greenroom.rules.workflows.commands import PutWorkflow, StartWorkflow
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.events import WorkflowBegan
from greenroom.rules.workflows.model import ENDED, WORKFLOW_RUNS, Workflow, WorkflowRun
from greenroom.rules.workflows.queries import hash_definition, need_workflow


async def put_workflow(
    log: Log,
    by: Principal,
    definition: WorkflowDefinition,
    *,
    source: str = "",
    text: str = "",
    replaces: int | None = None,
) -> Workflow:
    """Save a definition under its name."""
    await log.do(PutWorkflow(by=by, definition=definition, source=source, text=text, replaces=replaces))
    return need_workflow(log.rows, definition.name)


async def start_workflow(
    log: Log,
    by: Principal,
    workflow: str,
    *,
    definition: WorkflowDefinition | None = None,
    source: str = "",
    text: str = "",
    **fields: Any,
) -> WorkflowRun:
    """Have a workflow carried out; returns as soon as that is written down. A definition is kept first."""
    if definition is not None:
        await log.do(PutWorkflow(by=by, definition=definition, source=source, text=text, overwrite=True))
        fields["digest"] = hash_definition(definition)
    done = await log.do(StartWorkflow(by=by, run_id=new_id("wfr"), workflow=workflow, **fields))
    began: WorkflowBegan = done.first(WorkflowBegan)
    run = log.rows.get(WORKFLOW_RUNS, began.run_id)
    assert run is not None  # noqa: S101 it was just written
    return run


async def wait_for_workflow(log: Log, run_id: str, timeout_s: float) -> WorkflowRun | None:
    """The run once it is over, or None when it is not over after the time."""
    return await wait_for_row(log, WORKFLOW_RUNS, run_id, lambda run: run.status in ENDED, timeout_s)
