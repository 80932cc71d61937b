"""Workflows for run-tree clients: `workflow_start`, and `workflow_update` whenever a run changes."""

from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.log.model import Commit
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.model import THREADS
from greenroom.rules.threads.queries import may_see_thread
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import ENDED, STEPS, WORKFLOW_RUNS, WorkflowRun
from greenroom.rules.workflows.queries import find_steps, load_plan, may_see_workflow_run, need_version, need_workflow
from greenroom.services.hub import Hub
from greenroom.services.workflow_service import start_workflow

_STATUS = {"completed": "completed", "failed": "failed", "cancelled": "failed"}
_AT_WORK = ("running", "waiting", "delayed")


class WorkflowStart(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="workflow_start", rename="camel"):
    client_request_id: str | None = None
    workflow_id: str
    session_id: str = ""
    input: Any = None
    permission_mode: str = ""
    """Taken and not used: what an agent may do is its profile's and the policy's say."""


async def start_named_workflow(hub: Hub, by: Principal, wish: WorkflowStart) -> WorkflowRun:
    """Carry out the workflow that a client names."""
    workflow = need_workflow(hub.rows, wish.workflow_id, by)
    definition = need_version(hub.rows, workflow.digest).definition
    thread = hub.rows.get(THREADS, wish.session_id)
    here = thread is not None and may_see_thread(hub.rows, by, thread)
    inputs = build_inputs(definition, wish.input)
    thread_id = wish.session_id if here else None
    return await start_workflow(hub.log, by, workflow.name, inputs=inputs, thread_id=thread_id, trigger="client")


def build_inputs(definition: WorkflowDefinition, given: Any) -> JsonObject:
    """The workflow's inputs in an input of any form: those that an object names, and the whole under `input`."""
    named = given if isinstance(given, dict) else {}
    inputs = {name: value for name, value in named.items() if name in definition.inputs}
    if "input" in definition.inputs and "input" not in inputs and given is not None:
        inputs["input"] = given
    return inputs


def find_changed_runs(hub: Hub, by: Principal, commit: Commit) -> list[str]:
    """The runs of workflows that a commit has changed and this principal sees."""
    ids = dict.fromkeys(
        change.key if change.table is WORKFLOW_RUNS else change.row.run_id
        for change in commit.changes
        if change.row is not None and change.table in (WORKFLOW_RUNS, STEPS)
    )
    found = [hub.rows.get(WORKFLOW_RUNS, run_id) for run_id in ids]
    return [run.id for run in found if run is not None and may_see_workflow_run(hub.rows, by, run)]


def build_update(hub: Hub, run_id: str) -> JsonObject | None:
    """How a run stands, in the clients' words."""
    run = hub.rows.get(WORKFLOW_RUNS, run_id)
    if run is None:
        return None
    definition = need_version(hub.rows, run.digest).definition
    status = {step.id: step.status for step in find_steps(hub.rows, run.id) if step.index is None}
    order = load_plan(hub.rows, run).order
    over = (*ENDED, "skipped")
    return {
        "type": "workflow_update",
        "workflowId": definition.id or definition.name,
        "workflowRunId": run.id,
        "status": _STATUS.get(run.status, "running"),
        "completedSteps": [one for one in order if status.get(one) == "completed"],
        "runningSteps": [one for one in order if status.get(one) in _AT_WORK],
        "pendingSteps": [one for one in order if status.get(one, "pending") not in (*over, *_AT_WORK)],
        **({"error": str(run.error)} if run.error else {}),
    }
