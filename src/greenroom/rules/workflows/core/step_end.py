"""How an attempt and a step end: another attempt, another round, the next item, and the steps that follow."""

from typing import Any, assert_never

import msgspec

from greenroom.expressions import ExpressionFailed
from greenroom.rules.workflows.core.news import Ended, Work
from greenroom.rules.workflows.core.plan import PlanNode
from greenroom.rules.workflows.core.step_start import build_own_inputs, find_unkept_index
from greenroom.rules.workflows.core.transition import Transition, evaluate_mapping, hash_parts
from greenroom.rules.workflows.events import EndingWanted, StepDelayed, StepEnded, StepRepeats, WorkflowPaused
from greenroom.rules.workflows.model import (
    STEP_ENDED,
    OutsideWork,
    StepVerdict,
    WorkflowStep,
    WorkflowUsage,
    build_item_id,
    get_step_id,
)
from greenroom.sentences import Sentence, Words, build_sentence, shorten

_NOTHING = WorkflowUsage()


def end_attempt(transition: Transition, news: Ended) -> None:
    """An attempt is over."""
    step = transition.get_attempted_step(news.step, news.attempt)
    if step is None:
        return
    _look_at_budget(transition, news.spent)
    if news.ok:
        succeed(transition, step.id, news)
    else:
        fail(transition, step.id, (news.failure, news.error or build_sentence("step_error.failed")), news)


def set_values(transition: Transition, news: Work) -> None:
    """Run a step that needs no agent and no person: it computes the values of `set`."""
    step, node = transition.get_attempted_step(news.step, news.attempt), transition.node(news.step)
    if step is None:
        return
    try:
        seen = transition.values(step, node.set, input=build_own_inputs(transition, node, step))
        output = evaluate_mapping(node.set, seen)
    except ExpressionFailed as failed:
        fail(transition, step.id, ("expression", failed.said))
        return
    succeed(transition, step.id, Ended(step=step.id, attempt=step.attempt, ok=True, output=output))


def _look_at_budget(transition: Transition, spent: WorkflowUsage) -> None:
    """A run that exceeds a limit is paused, once: whoever resumes it lets it continue."""
    limits, before = transition.plan.definition.limits, transition.run.spent
    after = before + spent
    reason: Sentence | None = None
    if limits.max_tokens is not None and before.tokens < limits.max_tokens <= after.tokens:
        reason = build_sentence("flow_pause.tokens", used=after.tokens, limit=limits.max_tokens)
    elif limits.max_cost_usd is not None and before.cost_usd < limits.max_cost_usd <= after.cost_usd:
        reason = build_sentence("flow_pause.usd", used=f"{after.cost_usd:.2f}", limit=f"{limits.max_cost_usd:.2f}")
    if reason is not None and transition.run.status == "running":
        transition.emit(WorkflowPaused(run_id=transition.run.id, reason=reason))


def succeed(transition: Transition, step_id: str, news: Ended) -> None:
    """What came out is shaped, looked at by the loop, and saved."""
    node, step = transition.node(step_id), transition.step(step_id)
    if node.is_plain:
        complete(
            transition,
            step_id,
            news.output,
            kept_as=node.step.kept_name if news.agent_id else None,
            **_build_attempt_facts(news),
        )
        return
    try:
        mapped = (node.output, node.go_on, node.enough, node.save)
        seen = transition.values(step, *mapped, input=build_own_inputs(transition, node, step), output=news.output)
        if node.output is not None:
            seen["output"] = evaluate_mapping(node.output, seen)
        output = seen["output"]
        again = bool(node.loop_max) and _needs_another_round(node, seen)
        saved = evaluate_mapping(node.save, seen) if step.index is None else {}
    except ExpressionFailed as failed:
        fail(transition, step_id, ("expression", failed.said), news)
        return
    about = _build_attempt_facts(news)
    if not again:
        complete(
            transition, step_id, output, saved=saved, kept_as=node.step.kept_name if news.agent_id else None, **about
        )
    elif step.round + 1 >= node.loop_max:
        words = build_sentence("step_error.loop", limit=node.loop_max)
        fail(transition, step_id, ("failed", words), msgspec.structs.replace(news, final=True))
    else:
        transition.emit(StepRepeats(run_id=transition.run.id, step=step_id, output=output, saved=saved, **about))
        transition.schedule("attempt", step_id)


def _build_attempt_facts(news: Ended | None) -> dict[str, Any]:
    """Who made the attempt, and its usage."""
    if news is None or news.agent_run is None:
        return {} if news is None or news.spent == _NOTHING else {"spent": news.spent}
    return {"spent": news.spent, "agent_id": news.agent_id, "agent_run": news.agent_run}


def _needs_another_round(node: PlanNode, seen: dict[str, Any]) -> bool:
    if node.enough is not None and node.enough.holds(seen):
        return False
    return node.go_on.holds(seen) if node.go_on is not None else node.enough is not None


def fail(transition: Transition, step_id: str, why: tuple[str, Words], news: Ended | None = None) -> None:
    """An attempt has failed: there is another one after a while, or the step is over."""
    failure, error = why
    node, step = transition.node(step_id), transition.step(step_id)
    retry = node.step.retry
    worth = failure in retry.on if retry.on else failure != "expression"
    about = _build_attempt_facts(news)
    if worth and step.tries <= retry.max and step.attempt and not (news and news.final):
        due = transition.now + int(compute_retry_pause_s(transition.run.id, step, node) * 1000)
        transition.emit(StepDelayed(run_id=transition.run.id, step=step_id, error=error, due=max(due, 1), **about))
        if due <= transition.now:
            transition.schedule("attempt", step_id)
        return
    give_up(transition, step_id, error, **about)


def compute_retry_pause_s(run_id: str, step: WorkflowStep, node: PlanNode) -> float:
    """How long to wait before the next try; it follows from the ids, so that it is the same wherever it is computed."""
    retry = node.step.retry
    plain = min(retry.backoff_s * retry.factor ** max(step.tries - 1, 0), retry.max_backoff_s)
    chance = int.from_bytes(hash_parts(run_id, step.id, step.attempt)[:4], "big") / 2**32
    return max(0.0, plain * (1 + retry.jitter * chance))


def give_up(transition: Transition, step_id: str, error: Words, **about: Any) -> None:
    """A step has failed for good: what that means is the step's own choice, or the policy's."""
    node, step = transition.node(step_id), transition.step(step_id)
    policy, on_error = transition.plan.definition.policy, node.step.on_error
    if step.index is not None:
        settled = node.step.for_each is not None and node.step.for_each.join != "all"
        close(transition, step_id, "failed", error=error, debt=settled, **about)
    elif node.is_rollback:
        close(transition, step_id, "failed", error=error, debt=True, **about)
    elif node.step.route is not None:
        close(
            transition,
            step_id,
            "failed",
            error=error,
            reason=build_sentence("step_reason.route", step=node.step.route),
            **about,
        )
    elif on_error == "skip":
        reason = build_sentence("step_reason.skipped")
        close(transition, step_id, "skipped", error=error, reason=reason, **about)
    elif on_error == "ignore" or policy == "allow_debt":
        close(transition, step_id, "failed", error=error, debt=True, **about)
    elif policy == "first_success":
        close(transition, step_id, "failed", error=error, **about)
    else:
        close(transition, step_id, "failed", error=error, **about)
        transition.schedule("stop", step_id, ("failed", build_sentence("flow_error.step", step=step_id, error=error)))


def complete(transition: Transition, step_id: str, output: Any, **about: Any) -> None:
    close(transition, step_id, "completed", output=output, **about)


def skip(transition: Transition, step_id: str, reason: Words) -> None:
    close(transition, step_id, "skipped", reason=reason)


def close(transition: Transition, step_id: str, status: StepVerdict, **fields: Any) -> None:
    """A step or an item is over; whoever waited for it is looked at."""
    step, node = transition.step(step_id), transition.node(step_id)
    reached: list[str] = []
    if step.index is None:
        for following in node.after:
            if transition.step(following).seen + 1 >= len(transition.node(following).incoming):
                transition.schedule("ready", following)
            else:
                reached.append(following)
    transition.emit(StepEnded(run_id=transition.run.id, step=step_id, status=status, reached=reached, **fields))
    if step.index is not None and status != "cancelled":
        transition.schedule("item", get_step_id(step_id), status)
    enough = transition.plan.definition.policy == "first_success" and step_id in transition.plan.last
    if enough and status == "completed":
        transition.schedule("stop", step_id, ("completed", None))


def end_item(transition: Transition, fan_id: str, status: StepVerdict) -> None:
    """An item of a fan-out is over: the next begins, or all of them are joined."""
    fan, node = transition.step(fan_id), transition.node(fan_id)
    if fan.status in STEP_ENDED or node.step.for_each is None:
        return
    join = node.step.for_each.join
    place = node.parallel + fan.done - len(fan.kept) - 1  # as many as may be began at first, and one at each end
    if (join == "any" and status == "completed") or fan.lost:
        for one in transition.items(fan):
            cancel(transition, one, build_sentence("step_reason.item_decided"))
        transition.schedule("join", fan_id)
    elif fan.done == fan.total:
        transition.schedule("join", fan_id)
    elif place < fan.total - len(fan.kept):
        transition.schedule("attempt", build_item_id(fan_id, find_unkept_index(fan.kept, place)))


def join_items(transition: Transition, fan_id: str, _: Any) -> None:
    """All items are over, or enough of them: the fan-out ends with their outputs in order."""
    fan, node = transition.step(fan_id), transition.node(fan_id)
    if fan.status in STEP_ENDED or node.step.for_each is None:
        return
    items = transition.items(fan)
    done = [one for one in items if one.status == "completed"]
    failed = next((one for one in items if one.status == "failed"), None)
    join = node.step.for_each.join
    if (join == "all" and failed is not None) or (join == "any" and not done and items):
        first = failed or items[0]
        give_up(transition, fan_id, build_sentence("step_error.item", index=first.index, error=first.error))
        return
    output: Any = [one.output for one in items]
    if join == "any":
        output = [one.output for one in done]
    try:
        seen = transition.values(fan, node.output, node.save, input={}, output=output)
        if node.output is not None:
            seen["output"] = evaluate_mapping(node.output, seen)
        saved = evaluate_mapping(node.save, seen)
    except ExpressionFailed as error:
        give_up(transition, fan_id, error.said)
        return
    complete(transition, fan_id, seen["output"], saved=saved)


def cancel(transition: Transition, step: WorkflowStep, reason: Words) -> None:
    """A step or an item is not wanted any more."""
    if step.status in STEP_ENDED or (step.status == "pending" and step.index is None):
        return
    abandon(transition, step, reason)
    transition.emit(StepEnded(run_id=transition.run.id, step=step.id, status="cancelled", reason=reason))


def abandon(transition: Transition, step: WorkflowStep, reason: Words) -> None:
    """Have what a step waits for outside ended."""
    match step.waits_kind:
        case "workflow" if transition.is_whole_tree:
            return
        case "run" | "workflow" | "ask" as kind:
            what = OutsideWork(kind, step.waits_key)
            transition.emit(
                EndingWanted(run_id=transition.run.id, step=step.id, what=what, reason=shorten(reason, 500))
            )
        case "message" | "webhook" | "time" | "engine" | None:
            return
        case _:
            assert_never(step.waits_kind)
