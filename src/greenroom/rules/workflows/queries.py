"""Lists workflows, runs and steps, and checks who may see them."""

import hashlib

import msgspec

from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.log.pages import find_page
from greenroom.rules.access.model import HUB, Principal
from greenroom.rules.threads.queries import find_page_in_threads, is_in_visible_thread
from greenroom.rules.workflows.core.plan import PLANS, Plan
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import (
    ATTEMPTS,
    SAVED_VERSIONS,
    STEPS,
    VERSIONS,
    WORKFLOW_RUNS,
    WORKFLOWS,
    SavedVersion,
    Workflow,
    WorkflowAttempt,
    WorkflowRun,
    WorkflowStatus,
    WorkflowStep,
    WorkflowVersion,
    format_version,
)
from greenroom.validation import get_nearest

"""How many runs are looked through for those that no index leads to."""


def hash_definition(definition: WorkflowDefinition) -> str:
    """What a definition is known by: the same for the same definition, wherever it comes from."""
    return hashlib.sha256(msgspec.json.encode(definition, order="deterministic")).hexdigest()[:32]


def get_workflow(rows: Rows, name: str) -> Workflow | None:
    """The workflow of a name, or of the id that other programs call it by."""
    return rows.get(WORKFLOWS, name) or next(iter(rows.find(WORKFLOWS, {"alias": name}, limit=1)), None)


def need_workflow(rows: Rows, name: str, by: Principal = HUB) -> Workflow:
    """The workflow, if it is there for this principal."""
    workflow = get_workflow(rows, name)
    if workflow is None or not may_see_workflow(rows, by, workflow):
        raise _workflow_not_found(rows, name, by)
    return workflow


def may_see_workflow(rows: Rows, by: Principal, workflow: Workflow) -> bool:
    """Workflows belong to no thread: whoever is confined to some sees only their runs there."""
    return not by.is_confined


def _workflow_not_found(rows: Rows, name: str, by: Principal) -> Refused:
    near = get_nearest(name, [one.name for one in find_workflows(rows, by)])
    if near is not None:
        return Refused("workflow_not_found.near", "not_found", name=name[:80], near=near)
    return Refused("workflow_not_found", "not_found", name=name[:80])


def need_version(rows: Rows, digest: str) -> WorkflowVersion:
    version = rows.get(VERSIONS, digest)
    if version is None:
        raise Refused("workflow_not_found.version", "not_found")
    return version


def find_workflows(rows: Rows, by: Principal = HUB) -> list[Workflow]:
    return [workflow for workflow in rows.find(WORKFLOWS, order="_key") if may_see_workflow(rows, by, workflow)]


def find_saved_versions(rows: Rows, name: str, *, before: int | None = None, limit: int = 50) -> list[SavedVersion]:
    """The versions that were saved under a name, newest first, also of a workflow that was deleted."""
    edge = None if before is None else ("version", before)
    return rows.find(SAVED_VERSIONS, {"name": name}, before=edge, order="version", desc=True, limit=limit)


def need_saved_name(rows: Rows, name: str, by: Principal = HUB) -> str:
    """The name under which versions were saved: a workflow's own, of its alias, or of one that was deleted."""
    workflow = get_workflow(rows, name)
    if by.is_confined or (workflow is None and not find_saved_versions(rows, name, limit=1)):
        raise _workflow_not_found(rows, name, by)
    return workflow.name if workflow else name


def need_saved_version(rows: Rows, name: str, version: int) -> SavedVersion:
    found = rows.get(SAVED_VERSIONS, name, format_version(version))
    if found is None:
        raise Refused("version_not_found", "not_found", name=name[:80], version=version)
    return found


def may_see_workflow_run(rows: Rows, by: Principal, run: WorkflowRun) -> bool:
    """Operators and viewers see all runs, or those of their threads; anybody else those that they have started."""
    if by.kind in ("operator", "viewer", "hub"):
        return not by.is_confined or is_in_visible_thread(rows, by, run.thread_id)
    return run.by == by.id


def need_workflow_run(rows: Rows, by: Principal, run_id: str) -> WorkflowRun:
    run = rows.get(WORKFLOW_RUNS, run_id)
    if run is None or not may_see_workflow_run(rows, by, run):
        raise Refused("workflow_run_not_found", "not_found", run_id=run_id[:80])
    return run


def find_workflow_runs(
    rows: Rows,
    by: Principal,
    *,
    workflow: str | None = None,
    status: WorkflowStatus | None = None,
    waiting: bool | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[WorkflowRun]:
    """Runs of workflows, newest first; `waiting` takes those that wait, or those that do not."""
    where = {name: value for name, value in (("workflow", workflow), ("status", status)) if value}
    if by.is_confined and by.kind == "viewer":
        found = find_page_in_threads(rows, WORKFLOW_RUNS, by, where, before=before, limit=limit)
        return [run for run in found if waiting in (None, run.waiting)]
    return find_page(
        rows,
        WORKFLOW_RUNS,
        where,
        before=before,
        limit=limit,
        may_show=lambda run: waiting in (None, run.waiting) and may_see_workflow_run(rows, by, run),
    )


def find_steps(rows: Rows, run_id: str) -> list[WorkflowStep]:
    """The steps to which something has happened, those of fan-outs included."""
    return rows.find(STEPS, {"run_id": run_id}, order="_key")


def find_attempts(rows: Rows, run_id: str) -> list[WorkflowAttempt]:
    """The attempts that are over while their steps continued, in order."""
    return rows.find(ATTEMPTS, {"run_id": run_id}, order="_key")


def load_plan(rows: Rows, run: WorkflowRun) -> Plan:
    """The plan that a run follows."""
    found = PLANS.get_known(run.digest)
    return found or PLANS.get(run.digest, need_version(rows, run.digest).definition)
