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


def pause(course: Transition, news: PauseRequested) -> None:
    if course.run.status == "running":
        course.emit(WorkflowPaused(run_id=course.run.id, reason=news.reason))


def resume(course: Transition, news: ResumeRequested) -> None:
    if course.run.status != "paused":
        return
    course.emit(WorkflowResumed(run_id=course.run.id))
    for step_id in course.plan.order:
        step = course.step(step_id)
        if step.status == "held":
            course.schedule("start" if step.leave else "ready", step_id)
        for one in course.items(step) if step.status == "running" else ():
            if one.status == "held":
                course.schedule("attempt", one.id)


def handle_stop_request(course: Transition, news: StopRequested) -> None:
    course.is_whole_tree = news.cascade
    if course.run.status == "stopping" and not news.rollback:
        _stop_rollback(course, news.error or build_sentence("flow_error.stopped"))
    else:
        stop(course, "", (news.verdict, news.error), takes_back=news.rollback)


def _stop_rollback(course: Transition, reason: Words) -> None:
    """Somebody aborts a rollback."""
    run = course.run
    for step_id in course.plan.order:
        for back in course.node(step_id).step.rollback:
            cancel(course, course.step(back.id), reason)
    error = build_sentence("flow_error.not_taken_back", error=run.error, reason=reason) if run.error else reason
    verdict = run.verdict or "cancelled"
    course.emit(WorkflowStopping(run_id=run.id, verdict=verdict, error=shorten(error, 2000), takes_back=False))


def stop(course: Transition, _: str, how: tuple[RunVerdict, Words | None], *, takes_back: bool | None = None) -> None:
    """End running attempts. A run that failed, or will fail, then rolls back completed steps."""
    verdict, error = how
    if course.run.status in ENDED or course.run.status == "stopping":
        return
    course.todo.clear()  # whatever was about to begin does not
    takes_back = verdict == "failed" if takes_back is None else takes_back
    course.emit(WorkflowStopping(run_id=course.run.id, verdict=verdict, error=error, takes_back=takes_back))
    reason = error or build_sentence("step_reason.aborted")
    if verdict == "completed":
        reason = build_sentence("step_reason.another")
    for step_id in course.plan.order:
        step = course.step(step_id)
        for one in course.items(step) if step.status == "running" else ():
            if one.status != "pending":
                cancel(course, one, reason)
        cancel(course, step, reason)


def settle(course: Transition) -> None:
    """After all else: take the next step back, begin the next in the queue, or end the run."""
    run = course.run
    if run.status == "stopping" and not run.active:
        back = _get_next_rollback(course) if run.takes_back else None
        if back is not None:
            course.schedule("leave", back)
            return
        output = _evaluate_output(course) if run.verdict == "completed" else (None, None)
        _end(course, run.verdict or "cancelled", output[0], run.error or output[1])
    elif run.status in ("running", "paused") and run.over == run.steps and not run.active:
        _finish(course)
    elif run.status == "running" and run.first_queued is not None:
        following = _get_next_queued(course, run.first_queued)
        if following is not None and run.working < course.plan.definition.limits.max_parallel:
            course.schedule("attempt", following)


def _get_next_queued(course: Transition, step_id: str | None) -> str | None:
    """The first of the queue that still wants to begin."""
    while step_id is not None:
        step = course.step(step_id)
        if step.status == "queued":
            return step_id
        step_id = step.next_queued
    return None


def _finish(course: Transition) -> None:
    """Every step is over and nothing has stopped the run."""
    last = [course.step(step_id) for step_id in course.plan.last]
    if course.plan.definition.policy == "first_success" and not any(one.status == "completed" for one in last):
        why = next((one.error for one in last if one.error), None)
        none = build_sentence("flow_error.none_succeeded")
        _end(course, "failed", None, build_sentence("flow_error.none_succeeded_why", error=why) if why else none)
        return
    output, error = _evaluate_output(course)
    _end(course, "failed" if error else "completed", output, error)


def _evaluate_output(course: Transition) -> tuple[Any, Words | None]:
    plan = course.plan
    if plan.output is None:
        steps = [course.step(step_id) for step_id in plan.order if step_id in plan.last]
        return {step.id: step.output for step in steps if step.status == "completed"}, None
    try:
        return evaluate_mapping(plan.output, course.values(None, plan.output)), None
    except ExpressionFailed as failed:
        return None, build_sentence("flow_error.output", error=failed.said)


def _end(course: Transition, status: RunVerdict, output: Any, error: Words | None) -> None:
    run_id = course.run.id
    for name, agent_id in course.board.facts.agents.items():
        if not name.startswith("pool:"):
            course.emit(
                EndingWanted(
                    run_id=run_id,
                    step="",
                    what=OutsideWork("agent", agent_id),
                    reason=build_sentence("step_reason.workflow_over"),
                )
            )
    course.emit(WorkflowEnded(run_id=run_id, status=status, output=output, error=error))


def _get_next_rollback(course: Transition) -> str | None:
    """The next step that takes something back: of the step that was completed last first."""
    places = {step_id: place for place, step_id in enumerate(course.plan.order)}
    done = [course.step(step_id) for step_id in course.plan.order]
    done = [one for one in done if one.status == "completed" and course.node(one.id).step.rollback]
    for one in sorted(done, key=lambda step: (step.ended_at or 0, places[step.id]), reverse=True):
        for back in course.node(one.id).step.rollback:
            if course.step(back.id).status == "pending":
                return back.id
    return None


def retry(course: Transition, news: RetryRequested) -> None:
    """Retry a run. Finished steps stay, except the named one and all after it. Steps that were rolled back run again.

    Completed items of a failed fan-out stay.
    """
    plan = course.plan
    anew = {step_id for step_id in plan.order if _is_taken_back(course, step_id)}
    if news.step is not None:
        anew.add(news.step)
    unfinished = {step_id for step_id in plan.order if _is_unfinished(course, course.step(step_id))}
    for step_id in plan.order:
        if step_id in anew or step_id in unfinished:
            anew.update(plan.nodes[step_id].after)
    again = anew | unfinished
    seconds = plan.definition.limits.timeout_s
    due = course.now + seconds * 1000 if seconds else 0
    course.emit(WorkflowRetried(run_id=course.run.id, steps=[one for one in plan.order if one in again], due=due))
    for step_id in plan.order:
        for back in plan.nodes[step_id].step.rollback:
            if course.step(back.id).status != "pending":
                course.emit(StepReset(run_id=course.run.id, step=back.id, seen=0))
        if step_id not in again:
            continue
        incoming = plan.nodes[step_id].incoming
        seen = sum(way.source not in again for way in incoming)
        keeps = step_id not in anew and course.step(step_id).total > 0
        course.emit(StepReset(run_id=course.run.id, step=step_id, seen=seen, keeps=keeps))
        if seen == len(incoming):
            course.schedule("ready", step_id)


def _is_taken_back(course: Transition, step_id: str) -> bool:
    return any(course.step(back.id).status != "pending" for back in course.node(step_id).step.rollback)


def _is_unfinished(course: Transition, step: WorkflowStep) -> bool:
    if step.status == "failed":
        handled = step.debt or course.node(step.id).step.route is not None
        return not handled or course.plan.definition.policy == "first_success"
    return step.status == "cancelled" or step.status not in STEP_ENDED
