"""Asks people for a step, and interprets their answers."""

from collections.abc import Mapping
from typing import Any

from greenroom.log.log import Log
from greenroom.rules.access.model import HUB
from greenroom.rules.asks.commands import RaiseAsk
from greenroom.rules.asks.model import Ask, Asker, AskOption, AskQuestion
from greenroom.rules.asks.votes import find_strangers
from greenroom.rules.workflows.core.news import Answered, StepAnswer
from greenroom.rules.workflows.core.plan import PlanNode
from greenroom.rules.workflows.core.step_start import LEVEL_WORDS
from greenroom.rules.workflows.model import WorkflowRun, WorkflowStep
from greenroom.sentences import Words, build_sentence, join_with_and, shorten
from greenroom.services.workflow_engine.prompts import StepTexts

_TITLE = 300
_TEXT = 8_000
_AFTER_A_CRASH = {
    "Resume": "the agent goes on in its own session, if it has one",
    "Do it again": "a new attempt from the beginning; what was done already may be done twice",
    "Skip the step": "and what depends on it",
    "Give up": "the step has failed",
}
_VERDICTS: Mapping[str, StepAnswer] = {
    "Resume": "resume",
    "Do it again": "rerun",
    "Skip the step": "skip",
    "Give up": "stop",
}


async def raise_ask(
    log: Log, run: WorkflowRun, node: PlanNode, step: WorkflowStep, telling: StepTexts, ask_id: str
) -> None:
    """Ask whoever answers asks; an ask that is there already stays as it is."""
    level = node.step.level
    about: dict[str, Any] = {}
    if step.asking == "crash":
        title: Words = build_sentence("step_ask.crash", step=step.id, workflow=run.workflow)
        options = [AskOption(label=label, description=told) for label, told in _AFTER_A_CRASH.items()]
        about = {"kind": "decision", "questions": [AskQuestion(question=str(title), options=options, custom=False)]}
        text: Words = step.reason or ""
        why = build_sentence("ask_why.crash")
    else:
        ours = build_sentence("step_ask.leave", step=node.step.name or step.id, workflow=run.workflow)
        title = telling.text(level.question) or ours
        why = build_sentence("ask_why.level", level=LEVEL_WORDS[level.kind])
        text = telling.prompt() if node.kind == "agent" else node.step.description
        about = {"kind": "decision" if level.kind == "recommended" else "gate"}
        about["asked_of"] = list(dict.fromkeys(level.stakeholders))
        strangers = find_strangers(log.rows, about["asked_of"], log.clock.now()) if level.stakeholders else []
        if strangers:  # lest it wait for people who cannot come
            text = build_sentence("step_ask.strangers", text=shorten(text, _TEXT), names=strangers)
        if level.kind == "arbitrated":
            about["approvers"] = max(1, level.quorum or len(about["asked_of"]))
    labels = {"workflow": run.workflow, "step": step.id}
    await log.do(
        RaiseAsk(
            by=HUB,
            ask_id=ask_id,
            title=shorten(title, _TITLE),
            text=shorten(text, _TEXT),
            asker=Asker(by=HUB.id, name=f"workflow {run.workflow}", workflow_run_id=run.id, step=step.id),
            thread_id=run.thread_id,
            why=why,
            labels=labels,
            timeout_s=0,  # the step's own time decides
            **about,
        )
    )


def build_answer_news(step: WorkflowStep, ask: Ask) -> Answered:
    """What an ask that is closed means for its step."""
    answer = ask.answer
    if answer is None:
        expired = build_sentence("step_reason.question_expired")
        words = expired if ask.state == "expired" else build_sentence("step_reason.question_withdrawn")
        return Answered(step=step.id, ask_id=ask.id, verdict="stop", words=words)
    is_no = answer.verdict == "deny"
    names = dict.fromkeys(one.name or one.by for one in ask.refusals) if is_no else {}
    who = join_with_and(names) if names else answer.name or answer.by
    words = (
        build_sentence("step_reason.said_no", name=who) if is_no else build_sentence("step_reason.said_yes", name=who)
    )
    if answer.text:
        words = build_sentence("step_reason.said", name=who, words=answer.text)
    verdict: StepAnswer = "stop" if is_no else "go"
    if step.asking == "crash" and answer.verdict != "deny":
        chosen = answer.options[0][0] if answer.options and answer.options[0] else "Resume"
        verdict = _VERDICTS.get(chosen, "resume")
    output = {"verdict": answer.verdict, "text": answer.text, "by": str(who), "form": answer.form}
    return Answered(step=step.id, ask_id=ask.id, verdict=verdict, words=words, output=output)
