"""The report of a workflow run, step by step: agent, attempts, time and cost."""

from typing import Any

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.runs.model import RUNS, Run
from greenroom.rules.runs.node_outage import describe_obstacle
from greenroom.rules.workflows.core.plan import Plan, PlanNode
from greenroom.rules.workflows.definition import StepKind
from greenroom.rules.workflows.model import (
    WORKFLOW_RUNS,
    AttemptStatus,
    StepStatus,
    WaitKind,
    WorkflowAttempt,
    WorkflowRun,
    WorkflowStep,
    WorkflowUsage,
    get_step_id,
)
from greenroom.rules.workflows.queries import find_attempts, find_steps, load_plan
from greenroom.sentences import Words, build_sentence

_UNTAKEN_MS = 10_000
"""After so long it is worth a word that no node has taken an agent's run."""


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a step."""

    number: int
    status: AttemptStatus
    began_at: int | None
    ended_at: int | None
    agent_id: str | None
    agent_run: str | None
    error: Words | None
    spent: WorkflowUsage


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a run, or one item of a fan-out."""

    id: str
    name: str
    kind: StepKind
    status: StepStatus
    profile: str | None
    agent: str | None
    """The name of the agent that did it."""
    attempts: list[AttemptReport]
    began_at: int | None
    ended_at: int | None
    duration_ms: int | None
    """How long its attempts took together, without the time between them."""
    spent: WorkflowUsage
    waits_for: str | None
    """What it waits for in one text, such as `run ID` or `time`; `waits_kind` and `waits_key` are its parts."""
    waits_kind: WaitKind | None
    waits_key: str
    reason: Words | None
    """Why it was skipped or cancelled, what it waits for, or what blocks its agent."""
    error: Words | None
    output: Any
    total: int
    done: int


class WorkflowReport(msgspec.Struct, frozen=True, kw_only=True):
    """A run with all its steps, those included to which nothing has happened yet."""

    run: WorkflowRun
    steps: list[StepReport]


def build_report(rows: Rows, run: WorkflowRun, now: int) -> WorkflowReport:
    """The report of a run: steps in the order of the plan, items after their fan-out."""
    plan = load_plan(rows, run)
    earlier: dict[str, list[WorkflowAttempt]] = {}
    for attempt in find_attempts(rows, run.id):
        earlier.setdefault(attempt.step, []).append(attempt)
    return WorkflowReport(
        run=run,
        steps=[
            _build_step_report(rows, plan.nodes[get_step_id(step.id)], step, earlier.get(step.id, []), now)
            for step in list_all_steps(plan, run, find_steps(rows, run.id))
        ],
    )


def list_all_steps(plan: Plan, run: WorkflowRun, found: list[WorkflowStep]) -> list[WorkflowStep]:
    """All steps of a run in order; those without a row are pending."""
    rows = {step.id: step for step in found}
    items: dict[str, list[WorkflowStep]] = {}
    for step in found:
        if (
            step.index is not None and step.index < rows[get_step_id(step.id)].total
        ):  # there were more, or will be others
            items.setdefault(get_step_id(step.id), []).append(step)
    backs = [step_id for step_id, node in plan.nodes.items() if node.is_rollback and step_id in rows]
    out: list[WorkflowStep] = []
    for step_id in (*plan.order, *backs):
        out.append(rows.get(step_id) or WorkflowStep(run_id=run.id, id=step_id))
        out += sorted(items.get(step_id, []), key=lambda step: step.index or 0)
    return out


def _build_step_report(
    rows: Rows, node: PlanNode, step: WorkflowStep, earlier: list[WorkflowAttempt], now: int
) -> StepReport:
    at_work = rows.get(RUNS, step.agent_run) if step.status == "running" and step.agent_run else None
    agent_id = at_work.agent_id if at_work is not None else step.agent_id
    agent = rows.get(AGENTS, agent_id) if agent_id else None
    attempts = [copy_fields(one, AttemptReport) for one in earlier]
    if step.attempt > (earlier[-1].number if earlier else 0):
        attempts.append(
            copy_fields(
                step, AttemptReport, number=step.attempt, agent_id=agent_id, spent=step.spent - step.spent_before
            )
        )
    began = attempts[0].began_at if attempts else step.began_at
    spans = [(one.began_at, one.ended_at) for one in attempts] or [(step.began_at, step.ended_at)]
    took = sum(end - start for start, end in spans if start is not None and end is not None)
    return copy_fields(
        step,
        StepReport,
        name=node.step.name,
        kind=node.kind,
        profile=node.step.profile or node.step.agent_runtime,
        agent=agent.name if agent else None,
        attempts=attempts,
        began_at=began,
        duration_ms=took if step.ended_at is not None and began is not None else None,
        waits_for=None if step.waits_for is None else str(step.waits_for),
        reason=_describe_obstacle(rows, step, at_work, now) or step.reason,
    )


def _describe_obstacle(rows: Rows, step: WorkflowStep, at_work: Run | None, now: int) -> Words | None:
    """What keeps a running step from continuing, and what to do about it."""
    if step.status != "running":
        return None
    if step.waits_kind == "workflow" and rows.get(WORKFLOW_RUNS, step.waits_key) is not None:
        return build_sentence("step_wait.nested", run_id=step.waits_key)
    if at_work is None:
        return None
    if held_up := describe_obstacle(rows, at_work):
        return str(held_up)
    if at_work.status == "waiting":
        what = at_work.waiting_for or build_sentence("step_wait.person")
        if at_work.goes_on_at:
            return build_sentence("step_wait.by_itself", what=what)
        return build_sentence("step_wait.for_asks", what=what)
    if at_work.status == "pending" and at_work.node_id is None and now - at_work.created_at > _UNTAKEN_MS:
        return build_sentence("step_wait.untaken")
    return None
