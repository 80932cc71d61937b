"""Judges the calls of a run, creates asks for them, and sends the outcome to the node."""

from typing import Any

import msgspec

from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.link.call_digest import Subject, hash_call
from greenroom.link.orders import DecideOrder, Decision
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.reports import CallReport, QuestionAsked
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Context, Event, Follow, Rows
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.ask_builder import NOT_TAKEN, build_ask_raised
from greenroom.rules.asks.call_text import build_call_title, escape_invisible
from greenroom.rules.asks.events import AnswerLapsed, AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import ASKS, Ask, Asker, AskOption, AskQuestion
from greenroom.rules.asks.queries import find_open_of_run
from greenroom.rules.nodes.model import ORDERS, NodeConnected, Order, OrderGiven
from greenroom.rules.policy.answer_effects import build_judgement_events, build_reach_fields
from greenroom.rules.policy.judge import is_refused_despite_approval, judge
from greenroom.rules.runs.events import RunWaits, RunWentOn
from greenroom.rules.runs.file_writes import describe_write_conflict
from greenroom.rules.runs.lineage import build_lineage
from greenroom.rules.runs.model import LIVE, RUNS, Run
from greenroom.rules.runs.orders import build_order
from greenroom.rules.servers.queries import is_passed_on
from greenroom.rules.threads.queries import get_current_thread
from greenroom.sentences import Words, build_sentence

replace = msgspec.structs.replace
_TITLE = 300
_WAIT = 500
_WORDS = 4000


def ask_permission(rows: Rows, run: Run, heard: CallReport, seed: str, context: Context) -> list[Event]:
    """A call waits in the agent's runtime. Any error on the way refuses it."""
    native = heard.permission
    again = _withdraw_superseded(rows, run, native)
    try:
        subject = _build_subject(run, heard)
        digest = hash_call(subject)
    except (ValueError, TypeError, RecursionError):
        return refuse_unreadable_call(rows, run, heard, seed)
    wanted = build_call_request(rows, run, subject, context.now, heard.resolved or {})
    wanted = replace(wanted, own=heard.own is True)
    verdict = judge(rows, wanted, context.now)
    ask_id = f"ask_{seed.removeprefix('ord_')}"
    judged = build_judgement_events(ask_id, wanted, verdict, ask_id if verdict.decision == "ask" else None)
    if verdict.decision == "allow":
        return [*again, *judged, _build_decision_order(run, seed, native, "allow", digest=digest)]
    if verdict.decision == "deny":
        return [*again, *judged, _build_decision_order(run, seed, native, "deny", str(verdict.why))]
    if rows.count(ASKS, {"agent_id": run.agent_id, "state": "open"}) >= context.settings.max_open_asks:
        words = "Too many calls of this agent wait for a person already: wait for their answers first."
        return [*again, *judged, _build_decision_order(run, seed, native, "deny", words)]
    ask = build_ask_raised(
        context,
        ask_id,
        "permission",
        _build_asker(rows, run, heard),
        build_call_title(subject.tool, subject.arguments),
        text=escape_invisible(heard.title[:_WORDS])[:_WORDS],
        thread_id=run.thread_id or get_current_thread(rows, run.agent_id),
        risk=verdict.risk,
        why=verdict.why,
        rule=verdict.rule,
        subject=subject,
        edits=heard.edits,
        **build_reach_fields(verdict),
    )
    return [*again, ask, *judged]


def refuse_unreadable_call(rows: Rows, run: Run, heard: CallReport, seed: str) -> list[Event]:
    """Refuse a call that cannot be judged, such as one with too many values."""
    native = heard.permission
    words = "This call cannot be looked at, so it is refused."
    return [*_withdraw_superseded(rows, run, native), _build_decision_order(run, seed, native, "deny", words)]


def ask_question(rows: Rows, run: Run, heard: QuestionAsked, seed: str, context: Context) -> list[Event]:
    """The agent asks its person something through its runtime."""
    question = heard.question or "?"
    options = [AskOption(label=one) for one in heard.options]
    ask = build_ask_raised(
        context,
        f"ask_{seed.removeprefix('ord_')}",
        "question",
        _build_asker(rows, run, heard),
        escape_invisible(question[:_TITLE])[:_TITLE],
        text=question,
        thread_id=run.thread_id or get_current_thread(rows, run.agent_id),
        questions=[AskQuestion(question=question, options=options)],
    )
    return [*_withdraw_superseded(rows, run, heard.permission), ask]


def withdraw_asks_of_call(rows: Rows, run: Run, native: str) -> list[Event]:
    """The runtime waits for this answer no more."""
    reason = build_sentence("withdrawn.not_awaited")
    return [AskWithdrawn(ask_id=ask.id, reason=reason, gone=True) for ask in _find_open_asks(rows, run, native)]


def withdraw_asks_of_run(rows: Rows, run: Run, reason: Words) -> list[Event]:
    """The run is over, and nothing in it waits any more. A report stays, for people to read."""
    waiting = [ask for ask in find_open_of_run(rows, run.id) if ASK_KINDS[ask.kind].is_awaited]
    return [AskWithdrawn(ask_id=ask.id, reason=reason, gone=True) for ask in waiting]


def _withdraw_superseded(rows: Rows, run: Run, native: str) -> list[Event]:
    """A runtime that asks again under the same id has changed the call: the earlier one would not run."""
    reason = build_sentence("withdrawn.superseded")
    return [AskWithdrawn(ask_id=ask.id, reason=reason, gone=True) for ask in _find_open_asks(rows, run, native)]


def _find_open_asks(rows: Rows, run: Run, native: str) -> list[Ask]:
    return [ask for ask in find_open_of_run(rows, run.id) if ask.asker.native == native]


def _build_asker(rows: Rows, run: Run, heard: CallReport | QuestionAsked) -> Asker:
    agent = rows.get(AGENTS, run.agent_id)
    return Asker(
        by=run.agent_id,
        name=(agent.display_name or agent.name) if agent else run.profile,
        agent_id=run.agent_id,
        run_id=run.id,
        call_id=(heard.call or None) if isinstance(heard, CallReport) else None,
        native=heard.permission,
    )


def _build_subject(run: Run, heard: CallReport) -> Subject:
    return Subject(
        tool=heard.tool,
        arguments=heard.input,
        directory=heard.directory,
        profile=run.profile,
        agent_id=run.agent_id,
        run_id=run.id,
        sandbox=run.isolation,
        files=heard.files,
    )


def build_call_request(
    rows: Rows, run: Run, subject: Subject, now: int, resolved: dict[str, str] | None = None
) -> CallRequest:
    """The call as the policy judges it: by the rights of the run, and of all above it."""
    wanted = CallRequest(
        tool=subject.tool,
        arguments=subject.arguments,
        directory=subject.directory or None,
        resolved=resolved or {},
        lineage=build_lineage(rows, run),
        agent_id=run.agent_id,
        is_passed_on=is_passed_on(rows, subject.tool),
    )
    return replace(wanted, contested=describe_write_conflict(rows, run, wanted, now))


def _build_decision_order(
    run: Run,
    order_id: str,
    native: str,
    decision: Decision,
    text: str = "",
    *,
    arguments: Any = None,
    digest: str = "",
    ask_id: str = "",
) -> OrderGiven:
    work = DecideOrder(
        native=native, decision=decision, text=text[:_WORDS], arguments=arguments, digest=digest, ask=ask_id
    )
    return build_order(run, order_id, work)


def _on_ask_raised(rows: Rows, event: AskRaised, context: Context) -> list[Event]:
    """A run that asks is a run that waits, and says for what."""
    run = rows.get(RUNS, event.asker.run_id) if event.asker.run_id else None
    if run is None or run.status not in LIVE or run.is_paused:
        return []
    return [RunWaits(run_id=run.id, kind=event.kind, ask_id=event.ask_id, title=_shorten(event.title))]


def _shorten(title: Words) -> Words:
    return title[:_WAIT] if isinstance(title, str) else title


def _on_ask_closed(rows: Rows, event: AskAnswered | AskExpired | AskWithdrawn, context: Context) -> list[Event]:
    """The outcome of an ask reaches the node with the same commit. The run continues, or waits for other asks."""
    ask = rows.get(ASKS, event.ask_id)
    run = rows.get(RUNS, ask.run_id) if ask is not None and ask.run_id else None
    if ask is None or run is None or run.status not in LIVE:
        return []
    events: list[Event] = []
    if ask.asker.native is not None and run.node_id is not None and not getattr(event, "gone", False):
        events += _pass_answer_on(rows, ask, run, context)
    if run.is_paused:
        return events
    left = find_open_of_run(rows, run.id)
    if left:
        return [*events, RunWaits(run_id=run.id, kind=left[0].kind, ask_id=left[0].id, title=_shorten(left[0].title))]
    return [*events, RunWentOn(run_id=run.id)] if run.status == "waiting" else events


def _pass_answer_on(rows: Rows, ask: Ask, run: Run, context: Context) -> list[Event]:
    native, answer = ask.asker.native or "", ask.answer
    order_id = f"ord_{ask.id.removeprefix('ask_')}_answer"
    if answer is None:
        words = f"It was taken back: {ask.reason}." if ask.state == "withdrawn" else "Nobody answered in time."
        return [
            _build_decision_order(
                run, order_id, native, "deny", f"{words} So it was refused; nobody has said no to it."
            )
        ]
    text = answer.text or "\n".join(", ".join(chosen) for chosen in answer.options)
    if answer.verdict == "deny":
        return [_build_decision_order(run, order_id, native, "deny", text)]
    if ask.subject is None:
        return [_build_decision_order(run, order_id, native, "allow", text)]
    changed = ask.subject if answer.arguments is None else replace(ask.subject, arguments=answer.arguments)
    wanted = build_call_request(rows, run, changed, context.now)
    verdict = judge(rows, wanted, context.now)
    if is_refused_despite_approval(verdict):
        words = f"It was approved, but what holds now refuses it: {verdict.why}"
        return [
            *build_judgement_events(f"{ask.id}_again", wanted, verdict),
            _build_decision_order(run, order_id, native, "deny", words),
        ]
    given = {"arguments": answer.arguments, "digest": answer.digest, "ask_id": ask.id}
    return [_build_decision_order(run, order_id, native, "allow", text, **given)]


def get_approval(order: Order) -> DecideOrder | None:
    """What an order says, if it lets a call run."""
    return order.work if isinstance(order.work, DecideOrder) and order.work.decision == "allow" else None


def refuse_order(order: Order, approval: DecideOrder, why: Words) -> OrderGiven:
    """What a node is to do instead of letting a call run, where it has not taken that order yet."""
    words = f"It was refused: {why}. Ask for it again."
    denied = replace(approval, decision="deny", text=words, arguments=None, digest="")
    return copy_fields(order, OrderGiven, order_id=order.id, work=denied)


def get_seconds_left(order: Order, now: int, approval_s: int) -> float | None:
    """How long a node may still act on a person's approval; None for an order that does not lapse by itself."""
    approval = get_approval(order)
    if approval is None or not approval.ask or not approval_s:
        return None
    return max(0.0, approval_s - (now - order.at) / 1000)


def _on_node_connected(rows: Rows, event: NodeConnected, context: Context) -> list[Event]:
    """A node that was away for longer than an approval holds is not given it any more."""
    events: list[Event] = []
    for order in rows.find(ORDERS, {"node_id": event.node_id}, order="_seq"):
        approval = get_approval(order)
        if approval and approval.ask and context.now - order.at >= context.settings.approval_s * 1000:
            lapsed = AnswerLapsed(ask_id=approval.ask, reason=NOT_TAKEN)
            events += [lapsed, refuse_order(order, approval, NOT_TAKEN)]
    return events


FOLLOW: dict[type[Event], Follow] = {
    AskRaised: _on_ask_raised,
    AskAnswered: _on_ask_closed,
    AskExpired: _on_ask_closed,
    AskWithdrawn: _on_ask_closed,
    NodeConnected: _on_node_connected,
}
