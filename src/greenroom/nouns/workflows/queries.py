"""Which workflows, runs and steps there are, and who may see them."""

import hashlib

import msgspec

from greenroom.log.errors import Refused
from greenroom.log.model import Rows
from greenroom.nouns.access.model import Principal
from greenroom.nouns.workflows.core.plan import PLANS, Plan
from greenroom.nouns.workflows.definition import Definition
from greenroom.nouns.workflows.model import (
    ATTEMPTS,
    STEPS,
    VERSIONS,
    WORKFLOW_RUNS,
    WORKFLOWS,
    Workflow,
    WorkflowAttempt,
    WorkflowRun,
    WorkflowStep,
    WorkflowVersion,
)


def digest_of(definition: Definition) -> str:
    """What a definition is known by: the same for the same definition, wherever it comes from."""
    return hashlib.sha256(msgspec.json.encode(definition, order="deterministic")).hexdigest()[:32]


def need_workflow(rows: Rows, name: str) -> Workflow:
    """The workflow of a name, or of the id that other programs call it by."""
    workflow = rows.get(WORKFLOWS, name) or next(iter(rows.find(WORKFLOWS, {"alias": name}, limit=1)), None)
    if workflow is None:
        raise Refused(
            "workflow_not_found",
            f"There is no workflow '{name[:80]}': see `greenroom dag list --workflows`.",
            "not_found",
        )
    return workflow


def need_version(rows: Rows, digest: str) -> WorkflowVersion:
    version = rows.get(VERSIONS, digest)
    if version is None:
        raise Refused("workflow_not_found", "There is no such version of a workflow.", "not_found")
    return version


def find_workflows(rows: Rows) -> list[Workflow]:
    return rows.find(WORKFLOWS, order="_key")


def find_versions(rows: Rows, name: str, limit: int = 50) -> list[WorkflowVersion]:
    """The versions of a workflow, newest first."""
    return rows.find(VERSIONS, {"name": name}, after=("version", 0), order="version", desc=True, limit=limit)


def may_see_workflow_run(rows: Rows, by: Principal, run: WorkflowRun) -> bool:
    """Operators and viewers see all runs; anybody else those that they have started."""
    return by.kind in ("operator", "viewer", "hub") or run.by == by.id


def need_workflow_run(rows: Rows, by: Principal, run_id: str) -> WorkflowRun:
    run = rows.get(WORKFLOW_RUNS, run_id)
    if run is None or not may_see_workflow_run(rows, by, run):
        raise Refused(
            "workflow_run_not_found",
            f"There is no run '{run_id[:80]}' of a workflow: see `greenroom dag list`.",
            "not_found",
        )
    return run


def find_workflow_runs(
    rows: Rows,
    by: Principal,
    *,
    workflow: str | None = None,
    status: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[WorkflowRun]:
    """Runs of workflows, newest first."""
    where = {"workflow": workflow} if workflow else {"status": status} if status else None
    edge = None if before is None else ("created_at", before)
    found = rows.find(WORKFLOW_RUNS, where, before=edge, order="created_at", desc=True, limit=limit)
    return [run for run in found if may_see_workflow_run(rows, by, run) and status in (None, run.status)]


def find_steps(rows: Rows, run_id: str) -> list[WorkflowStep]:
    """The steps to which something has happened, those of fan-outs included."""
    return rows.find(STEPS, {"run_id": run_id}, order="_key")


def find_attempts(rows: Rows, run_id: str) -> list[WorkflowAttempt]:
    """The attempts that are over while their steps went on, in order."""
    return rows.find(ATTEMPTS, {"run_id": run_id}, order="_key")


def plan_of(rows: Rows, run: WorkflowRun) -> Plan:
    """The plan that a run follows."""
    found = PLANS.known(run.digest)
    return found or PLANS.get(run.digest, need_version(rows, run.digest).definition)
