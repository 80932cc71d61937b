"""The rules for controlling workflow runs: news, pausing, changing, ending and resuming."""

import msgspec

from greenroom.errors import Refused
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.workflows.checks.definition_check import check_definition
from greenroom.rules.workflows.commands import (
    AbortWorkflow,
    AmendStep,
    EndingIsDone,
    PauseWorkflow,
    ResumeWorkflow,
    RetryWorkflow,
    SignalStep,
    TellRun,
)
from greenroom.rules.workflows.core.advance import advance, advance_by
from greenroom.rules.workflows.core.news import (
    AskAgain,
    Ended,
    News,
    PauseRequested,
    ResumeRequested,
    RetryRequested,
    StopRequested,
)
from greenroom.rules.workflows.core.plan import PLANS
from greenroom.rules.workflows.definition import Step
from greenroom.rules.workflows.events import EndingDone, WorkflowAmended
from greenroom.rules.workflows.model import ENDED, ENDINGS, LIVE, STEPS, WORKFLOW_RUNS, WorkflowRun
from greenroom.rules.workflows.queries import hash_definition, load_plan, need_version, need_workflow_run
from greenroom.rules.workflows.row_boards import RowsBoard
from greenroom.rules.workflows.taint import taint_run
from greenroom.sentences import build_sentence

_FIXED = ("id", "dependencies", "join", "rollback", "for_each", "on_error")
"""What makes the graph; a run that is under way keeps it."""
_UNBEGUN = ("pending", "held", "delayed", "queued")


def tell_run(rows: Rows, command: TellRun, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    run = rows.get(WORKFLOW_RUNS, command.run_id)
    if run is None or run.status not in LIVE:
        return []
    return advance_by(load_plan(rows, run), RowsBoard(rows, run), command.news, context.now)


def ending_is_done(rows: Rows, command: EndingIsDone, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [EndingDone(what=what) for what in command.what if rows.get(ENDINGS, what.kind, what.key)]


def _need_steered_run(rows: Rows, command: Command, run_id: str) -> WorkflowRun:
    by = need_principal(command)
    need_right(by, "operate")
    return need_workflow_run(rows, by, run_id)


def _advance(rows: Rows, run: WorkflowRun, news: News, context: Context) -> list[Event]:
    return advance(load_plan(rows, run), RowsBoard(rows, run), news, context.now)


def _advance_tree(rows: Rows, run: WorkflowRun, statuses: tuple[str, ...], news: News, context: Context) -> list[Event]:
    """Deliver news to a run and all below it that are in that status."""
    told = [one for one in (run, *_find_runs_below(rows, run)) if one.status in statuses]
    return [event for one in told for event in _advance(rows, one, news, context)]


def pause_workflow(rows: Rows, command: PauseWorkflow, context: Context) -> list[Event]:
    run = _need_steered_run(rows, command, command.run_id)
    if run.status == "paused":
        return []
    if run.status != "running":
        raise Refused("workflow_over.pause", "conflict", status=run.status)
    pause = PauseRequested(reason=command.reason[:500])
    return _advance_tree(rows, run, ("running",), pause, context)


def resume_workflow(rows: Rows, command: ResumeWorkflow, context: Context) -> list[Event]:
    run = _need_steered_run(rows, command, command.run_id)
    if run.status == "running":
        return []
    if run.status != "paused":
        raise Refused("workflow_over.resume", "conflict", status=run.status, run_id=run.id)
    return _advance_tree(rows, run, ("paused",), ResumeRequested(), context)


def abort_workflow(rows: Rows, command: AbortWorkflow, context: Context) -> list[Event]:
    """The whole tree below a run ends in one stroke, so that nothing is started in it any more."""
    run = _need_steered_run(rows, command, command.run_id)
    reason = command.said or command.reason[:500] or build_sentence("step_reason.aborted_by_hand")
    return _advance_tree(rows, run, LIVE, StopRequested(error=reason, cascade=True, rollback=command.rollback), context)


def _find_runs_below(rows: Rows, run: WorkflowRun) -> list[WorkflowRun]:
    if run.parent_id is None:
        return [one for one in rows.find(WORKFLOW_RUNS, {"root_id": run.id}) if one.id != run.id]
    out: list[WorkflowRun] = []
    parents = [run.id]
    while parents:
        children = [child for parent in parents for child in rows.find(WORKFLOW_RUNS, {"parent_id": parent})]
        out += children
        parents = [child.id for child in children]
    return out


def retry_workflow(rows: Rows, command: RetryWorkflow, context: Context) -> list[Event]:
    run = _need_steered_run(rows, command, command.run_id)
    plan = load_plan(rows, run)
    if run.status not in ENDED:
        raise Refused("workflow_at_work", "conflict", status=run.status)
    if run.parent_id is not None:
        raise Refused("nested_run", "conflict", root_id=run.root_id)
    if command.step is not None and (command.step not in plan.nodes or plan.nodes[command.step].is_rollback):
        raise Refused("step_not_found", "not_found", step=command.step[:80])
    if command.step is None and run.status == "completed":
        raise Refused("nothing_to_retry")
    return _advance(rows, run, RetryRequested(step=command.step), context)


def amend_step(rows: Rows, command: AmendStep, context: Context) -> list[Event]:
    run = _need_steered_run(rows, command, command.run_id)
    definition = need_version(rows, run.digest).definition
    place = next((n for n, step in enumerate(definition.steps) if step.id == command.step), None)
    if place is None:
        raise Refused("step_not_found", "not_found", step=command.step[:80])
    if run.status in ENDED and run.parent_id is not None:
        raise Refused("nested_run.over", "conflict", root_id=run.root_id)
    found = rows.get(STEPS, run.id, command.step)
    asks = run.status in LIVE and found is not None and found.waits_for_leave
    if run.status in LIVE and found is not None and not asks and found.status not in _UNBEGUN:
        raise Refused("step_begun", "conflict", status=found.status)
    fixed = sorted(set(command.changes) & set(_FIXED))
    if fixed:
        raise Refused("bad_amendment.graph", fields=fixed)
    old = msgspec.to_builtins(definition.steps[place])
    try:
        step = msgspec.convert({**old, **command.changes}, Step)
    except msgspec.ValidationError as error:
        raise Refused("bad_amendment.step", step=command.step, error=error) from error
    steps = [*definition.steps[:place], step, *definition.steps[place + 1 :]]
    amended = msgspec.structs.replace(definition, steps=steps)
    problems = check_definition(amended)
    if step.kind != definition.steps[place].kind or problems:
        if problems:
            raise Refused("bad_amendment.definition", problems=[problem.said for problem in problems[:5]])
        raise Refused("bad_amendment.kind")
    digest = hash_definition(amended)
    events = taint_run(rows, need_principal(command), run, command.taint)
    events.append(WorkflowAmended(run_id=run.id, step=step.id, digest=digest, definition=amended))
    if asks:
        events += advance(PLANS.get(digest, amended), RowsBoard(rows, run), AskAgain(step=step.id), context.now)
    return events


def signal_step(rows: Rows, command: SignalStep, context: Context) -> list[Event]:
    run = _need_steered_run(rows, command, command.run_id)
    step = rows.get(STEPS, run.id, command.step)
    if step is None or step.status != "waiting" or step.waits_kind == "ask":
        raise Refused("not_waiting", "conflict")
    ended = Ended(step=step.id, attempt=step.attempt, ok=True, output=command.value)
    return [*taint_run(rows, need_principal(command), run, command.taint), *_advance(rows, run, ended, context)]


DECIDE: dict[type[Command], Decide] = {
    TellRun: tell_run,
    EndingIsDone: ending_is_done,
    PauseWorkflow: pause_workflow,
    ResumeWorkflow: resume_workflow,
    AbortWorkflow: abort_workflow,
    RetryWorkflow: retry_workflow,
    AmendStep: amend_step,
    SignalStep: signal_step,
}
