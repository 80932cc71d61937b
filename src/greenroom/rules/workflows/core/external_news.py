"""News of a step besides the end of its attempt: time, people, and crashes."""

from collections.abc import Mapping

import msgspec

from greenroom.rules.workflows.core.news import Answered, AskAgain, Due, Interrupted, Mend, RunDue, StepAnswer
from greenroom.rules.workflows.core.run_control import stop
from greenroom.rules.workflows.core.step_end import abandon, complete, fail, give_up, skip
from greenroom.rules.workflows.core.transition import Transition, derive_id
from greenroom.rules.workflows.events import StepAsked, StepMoved
from greenroom.rules.workflows.model import StepWait, WorkflowStep
from greenroom.sentences import Words, build_sentence

_DEFAULTS: Mapping[str, StepAnswer] = {"run": "go", "skip": "skip", "abort": "stop"}
MOST_CRASHES = 5
"""How often an attempt is resumed after crashes before a person is asked."""


def handle_due(course: Transition, news: Due) -> None:
    """A time is over: a pause between tries, a wait, the time to object, or the time for the work."""
    step = course.board.step(news.step)
    if step is None or step.due != news.due:
        return
    level = course.node(step.id).step.level
    if step.status == "delayed":
        course.schedule("attempt", step.id)
    elif step.status == "waiting" and step.waits_kind == "time":
        complete(course, step.id, None)
    elif step.status == "waiting" and step.asking == "leave":
        abandon(course, step, build_sentence("step_reason.unanswered"))
        if level.kind == "recommended":
            _apply_verdict(course, step, _DEFAULTS[level.default], build_sentence("step_reason.unopposed"))
        else:
            _apply_verdict(course, step, "stop", build_sentence("step_reason.unagreed"))
    elif step.status in ("running", "waiting"):
        seconds = course.node(step.id).step.timeout_s
        words = (
            build_sentence("step_error.timeout", seconds=seconds)
            if step.status == "running"
            else build_sentence("step_error.nothing_came", seconds=seconds)
        )
        abandon(course, step, words)
        fail(course, step.id, ("timeout", words))


def handle_run_due(course: Transition, news: RunDue) -> None:
    if course.run.due == news.due:
        seconds = course.plan.definition.limits.timeout_s
        stop(course, "", ("failed", build_sentence("flow_error.timeout", seconds=seconds)))


def handle_answer(course: Transition, news: Answered) -> None:
    """A person has answered."""
    step = course.board.step(news.step)
    if step is None or not step.is_waiting_for("ask", news.ask_id):
        return
    if step.asking == "crash" and news.verdict in ("rerun", "resume"):
        run_id = step.resumed or step.agent_run or ""  # of both the session is the same, and the first is interrupted
        resumes = news.verdict == "resume" and bool(run_id)
        crash = Interrupted(step=step.id, attempt=step.attempt, error="", agent_run=run_id, can_resume=resumes)
        course.schedule("attempt", step.id, crash)
    elif news.verdict == "go" and course.node(step.id).kind == "gate":
        complete(course, step.id, news.output)
    else:
        _apply_verdict(course, step, news.verdict, news.words)


def ask_again(course: Transition, news: AskAgain) -> None:
    """People approve the step as it will run: if it changed, they are asked again."""
    step = course.board.step(news.step)
    if step is not None and step.waits_for_leave:
        abandon(course, step, build_sentence("step_reason.changed"))
        course.schedule("leave", step.id)


def _apply_verdict(course: Transition, step: WorkflowStep, verdict: StepAnswer, words: Words) -> None:
    if verdict == "go":
        course.schedule("pass" if course.node(step.id).kind == "gate" else "start", step.id)
    elif verdict == "skip":
        skip(course, step.id, words or build_sentence("step_reason.skipped_by_person"))
    else:
        give_up(course, step.id, words or build_sentence("step_reason.refused"))


def handle_interruption(course: Transition, news: Interrupted) -> None:
    """The agent's machine went down: what that means is the step's own choice."""
    step = course.get_attempted_step(news.step, news.attempt)
    if step is None:
        return
    how = course.node(step.id).step.on_crash
    too_often = step.tries > course.node(step.id).step.retry.max + MOST_CRASHES
    if (how == "rerun" or (news.is_unbegun and how != "ask")) and not too_often:
        course.schedule("attempt", step.id, msgspec.structs.replace(news, can_resume=False))
    elif how in ("resume", "probe") and news.can_resume and not too_often:
        course.schedule("attempt", step.id, news)
    else:
        course.emit(
            StepAsked(
                run_id=course.run.id,
                step=step.id,
                ask_id=derive_id("ask", course.now, course.run.id, step.id, step.attempt, "crash"),
                about="crash",
                reason=build_sentence("step_error.interrupted", error=news.error),
                spent=news.spent,
            )
        )


def request_correction(course: Transition, news: Mend) -> None:
    """The agent is asked once, in its own session, to give its output in the form that is needed."""
    step = course.get_attempted_step(news.step, news.attempt)
    if step is None or step.repairs:
        return
    run_id = derive_id("run", course.now, course.run.id, step.id, step.attempt, "mend")
    course.emit(
        StepMoved(
            run_id=course.run.id,
            step=step.id,
            waits_for=StepWait("run", run_id),
            reason=news.reason,
            spent=news.spent,
            agent_id=news.agent_id,
        )
    )
