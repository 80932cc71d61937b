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


def handle_due(transition: Transition, news: Due) -> None:
    """A time is over: a pause between tries, a wait, the time to object, or the time for the work."""
    step = transition.board.step(news.step)
    if step is None or step.due != news.due:
        return
    level = transition.node(step.id).step.level
    if step.status == "delayed":
        transition.schedule("attempt", step.id)
    elif step.status == "waiting" and step.waits_kind == "time":
        complete(transition, step.id, None)
    elif step.status == "waiting" and step.asking == "leave":
        abandon(transition, step, build_sentence("step_reason.unanswered"))
        if level.kind == "recommended":
            _apply_verdict(transition, step, _DEFAULTS[level.default], build_sentence("step_reason.unopposed"))
        else:
            _apply_verdict(transition, step, "stop", build_sentence("step_reason.unagreed"))
    elif step.status in ("running", "waiting"):
        seconds = transition.node(step.id).step.timeout_s
        words = (
            build_sentence("step_error.timeout", seconds=seconds)
            if step.status == "running"
            else build_sentence("step_error.nothing_came", seconds=seconds)
        )
        abandon(transition, step, words)
        fail(transition, step.id, ("timeout", words))


def handle_run_due(transition: Transition, news: RunDue) -> None:
    if transition.run.due == news.due:
        seconds = transition.plan.definition.limits.timeout_s
        stop(transition, "", ("failed", build_sentence("flow_error.timeout", seconds=seconds)))


def handle_answer(transition: Transition, news: Answered) -> None:
    """A person has answered."""
    step = transition.board.step(news.step)
    if step is None or not step.is_waiting_for("ask", news.ask_id):
        return
    if step.asking == "crash" and news.verdict in ("rerun", "resume"):
        run_id = step.resumed or step.agent_run or ""  # of both the session is the same, and the first is interrupted
        resumes = news.verdict == "resume" and bool(run_id)
        crash = Interrupted(step=step.id, attempt=step.attempt, error="", agent_run=run_id, can_resume=resumes)
        transition.schedule("attempt", step.id, crash)
    elif news.verdict == "go" and transition.node(step.id).kind == "gate":
        complete(transition, step.id, news.output)
    else:
        _apply_verdict(transition, step, news.verdict, news.words)


def ask_again(transition: Transition, news: AskAgain) -> None:
    """People approve the step as it will run: if it changed, they are asked again."""
    step = transition.board.step(news.step)
    if step is not None and step.waits_for_leave:
        abandon(transition, step, build_sentence("step_reason.changed"))
        transition.schedule("permission", step.id)


def _apply_verdict(transition: Transition, step: WorkflowStep, verdict: StepAnswer, words: Words) -> None:
    if verdict == "go":
        transition.schedule("pass" if transition.node(step.id).kind == "gate" else "start", step.id)
    elif verdict == "skip":
        skip(transition, step.id, words or build_sentence("step_reason.skipped_by_person"))
    else:
        give_up(transition, step.id, words or build_sentence("step_reason.refused"))


def handle_interruption(transition: Transition, news: Interrupted) -> None:
    """The agent's machine went down: what that means is the step's own choice."""
    step = transition.get_attempted_step(news.step, news.attempt)
    if step is None:
        return
    how = transition.node(step.id).step.on_crash
    too_often = step.tries > transition.node(step.id).step.retry.max + MOST_CRASHES
    if (how == "rerun" or (news.is_unbegun and how != "ask")) and not too_often:
        transition.schedule("attempt", step.id, msgspec.structs.replace(news, can_resume=False))
    elif how in ("resume", "probe") and news.can_resume and not too_often:
        transition.schedule("attempt", step.id, news)
    else:
        transition.emit(
            StepAsked(
                run_id=transition.run.id,
                step=step.id,
                ask_id=derive_id("ask", transition.now, transition.run.id, step.id, step.attempt, "crash"),
                about="crash",
                reason=build_sentence("step_error.interrupted", error=news.error),
                spent=news.spent,
            )
        )


def request_correction(transition: Transition, news: Mend) -> None:
    """The agent is asked once, in its own session, to give its output in the form that is needed."""
    step = transition.get_attempted_step(news.step, news.attempt)
    if step is None or step.repairs:
        return
    run_id = derive_id("run", transition.now, transition.run.id, step.id, step.attempt, "mend")
    transition.emit(
        StepMoved(
            run_id=transition.run.id,
            step=step.id,
            waits_for=StepWait("run", run_id),
            reason=news.reason,
            spent=news.spent,
            agent_id=news.agent_id,
        )
    )
