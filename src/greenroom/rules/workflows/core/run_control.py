"""Pauses, stops, rolls back, retries and ends a run."""

from typing import Any

from greenroom.expressions import ExpressionFailed
from greenroom.rules.workflows.core.news import PauseRequested, ResumeRequested, RetryRequested, StopRequested
from greenroom.rules.workflows.core.step_end import cancel
from greenroom.rules.workflows.core.transition import Transition, evaluate_mapping
from greenroom.rules.workflows.events import (
    EndingWanted,
    StepReset,
    WorkflowEnded,
    WorkflowPaused,
    WorkflowResumed,
    WorkflowRetried,
    WorkflowStopping,
)
from greenroom.rules.workflows.model import ENDED, STEP_ENDED, OutsideWork, RunVerdict, WorkflowStep
from greenroom.sentences import Words, build_sentence, shorten


def pause(transition: Transition, news: PauseRequested) -> None:
    if transition.run.status == "running":
        transition.emit(WorkflowPaused(run_id=transition.run.id, reason=news.reason))


def resume(transition: Transition, news: ResumeRequested) -> None:
    if transition.run.status != "paused":
        return
    transition.emit(WorkflowResumed(run_id=transition.run.id))
    for step_id in transition.plan.order:
        step = transition.step(step_id)
        if step.status == "held":
            transition.schedule("start" if step.leave else "ready", step_id)
        for one in transition.items(step) if step.status == "running" else ():
            if one.status == "held":
                transition.schedule("attempt", one.id)


def handle_stop_request(transition: Transition, news: StopRequested) -> None:
    transition.is_whole_tree = news.cascade
    if transition.run.status == "stopping" and not news.rollback:
        _stop_rollback(transition, news.error or build_sentence("flow_error.stopped"))
    else:
        stop(transition, "", (news.verdict, news.error), takes_back=news.rollback)


def _stop_rollback(transition: Transition, reason: Words) -> None:
    """Somebody aborts a rollback."""
    run = transition.run
    for step_id in transition.plan.order:
        for back in transition.node(step_id).step.rollback:
            cancel(transition, transition.step(back.id), reason)
    error = build_sentence("flow_error.not_taken_back", error=run.error, reason=reason) if run.error else reason
    verdict = run.verdict or "cancelled"
    transition.emit(WorkflowStopping(run_id=run.id, verdict=verdict, error=shorten(error, 2000), takes_back=False))


def stop(
    transition: Transition, _: str, how: tuple[RunVerdict, Words | None], *, takes_back: bool | None = None
) -> None:
    """End running attempts. A run that failed, or will fail, then rolls back completed steps."""
    verdict, error = how
    if transition.run.status in ENDED or transition.run.status == "stopping":
        return
    transition.todo.clear()  # whatever was about to begin does not
    takes_back = verdict == "failed" if takes_back is None else takes_back
    transition.emit(WorkflowStopping(run_id=transition.run.id, verdict=verdict, error=error, takes_back=takes_back))
    reason = error or build_sentence("step_reason.aborted")
    if verdict == "completed":
        reason = build_sentence("step_reason.another")
    for step_id in transition.plan.order:
        step = transition.step(step_id)
        for one in transition.items(step) if step.status == "running" else ():
            if one.status != "pending":
                cancel(transition, one, reason)
        cancel(transition, step, reason)


def settle(transition: Transition) -> None:
    """After all else: take the next step back, begin the next in the queue, or end the run."""
    run = transition.run
    if run.status == "stopping" and not run.active:
        back = _get_next_rollback(transition) if run.takes_back else None
        if back is not None:
            transition.schedule("permission", back)
            return
        output = _evaluate_output(transition) if run.verdict == "completed" else (None, None)
        _end(transition, run.verdict or "cancelled", output[0], run.error or output[1])
    elif run.status in ("running", "paused") and run.over == run.steps and not run.active:
        _finish(transition)
    elif run.status == "running" and run.first_queued is not None:
        following = _get_next_queued(transition, run.first_queued)
        if following is not None and run.working < transition.plan.definition.limits.max_parallel:
            transition.schedule("attempt", following)


def _get_next_queued(transition: Transition, step_id: str | None) -> str | None:
    """The first of the queue that still wants to begin."""
    while step_id is not None:
        step = transition.step(step_id)
        if step.status == "queued":
            return step_id
        step_id = step.next_queued
    return None


def _finish(transition: Transition) -> None:
    """Every step is over and nothing has stopped the run."""
    last = [transition.step(step_id) for step_id in transition.plan.last]
    if transition.plan.definition.policy == "first_success" and not any(one.status == "completed" for one in last):
        why = next((one.error for one in last if one.error), None)
        none = build_sentence("flow_error.none_succeeded")
        _end(transition, "failed", None, build_sentence("flow_error.none_succeeded_why", error=why) if why else none)
        return
    output, error = _evaluate_output(transition)
    _end(transition, "failed" if error else "completed", output, error)


def _evaluate_output(transition: Transition) -> tuple[Any, Words | None]:
    plan = transition.plan
    if plan.output is None:
        steps = [transition.step(step_id) for step_id in plan.order if step_id in plan.last]
        return {step.id: step.output for step in steps if step.status == "completed"}, None
    try:
        return evaluate_mapping(plan.output, transition.values(None, plan.output)), None
    except ExpressionFailed as failed:
        return None, build_sentence("flow_error.output", error=failed.said)


def _end(transition: Transition, status: RunVerdict, output: Any, error: Words | None) -> None:
    run_id = transition.run.id
    for name, agent_id in transition.board.facts.agents.items():
        if not name.startswith("pool:"):
            transition.emit(
                EndingWanted(
                    run_id=run_id,
                    step="",
                    what=OutsideWork("agent", agent_id),
                    reason=build_sentence("step_reason.workflow_over"),
                )
            )
    transition.emit(WorkflowEnded(run_id=run_id, status=status, output=output, error=error))


def _get_next_rollback(transition: Transition) -> str | None:
    """The next step that takes something back: of the step that was completed last first."""
    places = {step_id: place for place, step_id in enumerate(transition.plan.order)}
    done = [transition.step(step_id) for step_id in transition.plan.order]
    done = [one for one in done if one.status == "completed" and transition.node(one.id).step.rollback]
    for one in sorted(done, key=lambda step: (step.ended_at or 0, places[step.id]), reverse=True):
        for back in transition.node(one.id).step.rollback:
            if transition.step(back.id).status == "pending":
                return back.id
    return None


def retry(transition: Transition, news: RetryRequested) -> None:
    """Retry a run. Finished steps stay, except the named one and all after it. Steps that were rolled back run again.

    Completed items of a failed fan-out stay.
    """
    plan = transition.plan
    anew = {step_id for step_id in plan.order if _is_taken_back(transition, step_id)}
    if news.step is not None:
        anew.add(news.step)
    unfinished = {step_id for step_id in plan.order if _is_unfinished(transition, transition.step(step_id))}
    for step_id in plan.order:
        if step_id in anew or step_id in unfinished:
            anew.update(plan.nodes[step_id].after)
    again = anew | unfinished
    seconds = plan.definition.limits.timeout_s
    due = transition.now + seconds * 1000 if seconds else 0
    transition.emit(
        WorkflowRetried(run_id=transition.run.id, steps=[one for one in plan.order if one in again], due=due)
    )
    for step_id in plan.order:
        for back in plan.nodes[step_id].step.rollback:
            if transition.step(back.id).status != "pending":
                transition.emit(StepReset(run_id=transition.run.id, step=back.id, seen=0))
        if step_id not in again:
            continue
        incoming = plan.nodes[step_id].incoming
        seen = sum(way.source not in again for way in incoming)
        keeps = step_id not in anew and transition.step(step_id).total > 0
        transition.emit(StepReset(run_id=transition.run.id, step=step_id, seen=seen, keeps=keeps))
        if seen == len(incoming):
            transition.schedule("ready", step_id)


def _is_taken_back(transition: Transition, step_id: str) -> bool:
    return any(transition.step(back.id).status != "pending" for back in transition.node(step_id).step.rollback)


def _is_unfinished(transition: Transition, step: WorkflowStep) -> bool:
    if step.status == "failed":
        handled = step.debt or transition.node(step.id).step.route is not None
        return not handled or transition.plan.definition.policy == "first_success"
    return step.status == "cancelled" or step.status not in STEP_ENDED
