"""The rules for asks: who may ask what, and everything except answering."""

from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, RISKS
from greenroom.link.call_digest import hash_wish
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks import events as e
from greenroom.rules.asks.ask_builder import NOT_TAKEN, build_ask_raised
from greenroom.rules.asks.commands import (
    AnswerAsk,
    DelegateAsk,
    RaiseAsk,
    SnoozeAsk,
    TakeAnswer,
    TimeAsk,
    WithdrawAsk,
)
from greenroom.rules.asks.decide_answer import CHARS, PARTS, answer_ask, need_contents, need_open
from greenroom.rules.asks.forms import need_schema
from greenroom.rules.asks.model import ASKS, ROOM, Ask, Asker
from greenroom.rules.asks.queries import (
    ask_not_found,
    get_by_wish,
    is_lapsed,
    is_over_time,
    may_see_ask,
    need_person_for,
)
from greenroom.rules.asks.votes import build_overdue_events, is_of_another_room, need_voters
from greenroom.rules.threads.queries import need_thread
from greenroom.sentences import build_sentence

_TITLE = 300
_LONGEST_S = 90 * 86_400


def raise_ask(rows: Rows, command: RaiseAsk, context: Context) -> list[Event]:
    by = need_principal(command)
    if "ask" not in by.rights:
        need_right(by, "chat")
    asker = _build_asker(rows, by, command)
    wish = hash_wish(by.id, command.wish) if command.wish is not None else command.ask_id
    known = rows.get(ASKS, command.ask_id) or get_by_wish(rows, wish)
    if known is not None and known.asker.by != asker.by:
        raise Refused("key_reused.ask", "conflict")
    if known is not None and not _is_done_with(known, command.again_ms, context.now):
        return []
    if command.thread_id is not None and not by.may_operate:
        need_thread(rows, by, command.thread_id)
    _need_well_formed(by, command)
    _need_few(rows, by, asker, context)
    return [_build_ask_raised(by, command, asker, wish, context)]


def _build_asker(rows: Rows, by: Principal, command: RaiseAsk) -> Asker:
    """The asker: the one for whom the hub asks, or the principal of the command, with its run."""
    if command.asker is not None and by.may_operate:
        return command.asker
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    own = Asker(by=by.id, name=by.name, key=command.wish)
    if agent is None:
        return own
    name = agent.display_name or agent.name
    return Asker(by=by.id, name=name, agent_id=agent.id, run_id=agent.run_id, key=command.wish)


def _is_done_with(known: Ask, again_ms: int | None, now: int) -> bool:
    """Whether the same request is a new ask, because the earlier answer was delivered a while ago."""
    if known.lapsed_at:
        return True
    if again_ms is None or known.state == "open":
        return False
    return known.taken_at > 0 and now - known.taken_at >= again_ms


def _need_well_formed(by: Principal, command: RaiseAsk) -> None:
    raiser = "room" if by.room else "agent"
    allowed = [kind for kind, info in ASK_KINDS.items() if by.may_operate or raiser in info.raised_by]
    if command.kind not in allowed:
        raise Refused("bad_kind.ask", kinds=allowed)
    title = str(command.title)
    if not title.strip() or len(title) > _TITLE or len(str(command.text)) > CHARS:
        raise Refused("bad_ask.text", title_limit=_TITLE, text_limit=CHARS)
    if command.risk is not None and command.risk not in RISKS:
        raise Refused("bad_risk", risks=RISKS)
    if ASK_KINDS[command.kind].is_call != (command.subject is not None):
        raise Refused("bad_ask.call")
    need_voters(command)
    if command.timeout_s is not None and not 0 <= command.timeout_s <= _LONGEST_S:
        raise Refused("bad_ask.wait", limit_s=_LONGEST_S)
    if len(command.questions) > PARTS or sum(len(q.options) for q in command.questions) > 10 * PARTS:
        raise Refused("bad_ask.questions", questions=PARTS, options=10 * PARTS)
    if len(command.labels) > PARTS or any(len(k) > 100 or len(v) > 1000 for k, v in command.labels.items()):
        raise Refused("bad_ask.labels", limit=PARTS)
    need_contents(command.contents)
    if command.form is not None:
        need_schema(command.form)


def _need_few(rows: Rows, by: Principal, asker: Asker, context: Context) -> None:
    """Limit the open asks of one asker, so that it does not bury the others."""
    most = context.settings.max_open_asks
    if asker.agent_id is not None:
        waiting = rows.count(ASKS, {"agent_id": asker.agent_id, "state": "open"})
    elif by.room is not None:
        waiting = rows.count(ASKS, {"room": by.room, "state": "open"})
    elif not by.may_operate:
        waiting = rows.count(ASKS, {"agent_id": None, "state": "open"})
    else:
        return
    if waiting >= most:
        raise Refused("too_many_asks.waiting", "limited", count=waiting)


def _build_ask_raised(by: Principal, command: RaiseAsk, asker: Asker, wish: str, context: Context) -> e.AskRaised:
    risk = (command.risk if by.may_operate else None) or ASK_KINDS[command.kind].risk
    return build_ask_raised(
        context,
        command.ask_id,
        command.kind,
        asker,
        command.title.strip() if isinstance(command.title, str) else command.title,
        wish=wish,
        risk=risk,
        timeout_s=command.timeout_s,
        text=command.text,
        thread_id=command.thread_id,
        room=by.room if by.room is not None else command.room if by.may_operate else None,
        why=command.why if by.may_operate else "",
        rule=command.rule if by.may_operate else "",
        questions=command.questions,
        form=command.form,
        subject=command.subject,
        edits=command.edits,
        contents=command.contents,
        labels=command.labels,
        asked_of=command.asked_of if by.may_operate else [],
        approvers=command.approvers if by.may_operate else 1,
    )


def snooze_ask(rows: Rows, command: SnoozeAsk, context: Context) -> list[Event]:
    ask = need_person_for(rows, need_principal(command), command.ask_id)
    need_open(ask)
    if (command.for_s is None) == (command.until is None):
        raise Refused("bad_time.missing")
    until = context.now + (command.for_s or 0) * 1000 if command.until is None else command.until
    if until and until <= context.now:
        raise Refused("bad_time.past")
    if ask.deadline and until >= ask.deadline:
        raise Refused("bad_time.after_expiry")
    return [] if until == ask.snoozed_until else [e.AskSnoozed(ask_id=ask.id, until=until)]


def delegate_ask(rows: Rows, command: DelegateAsk, context: Context) -> list[Event]:
    by = need_principal(command)
    ask = need_person_for(rows, by, command.ask_id)
    need_open(ask)
    if len(command.to) > 100:
        raise Refused("bad_delegate")
    if not by.may_operate and (command.to.startswith(ROOM) or is_of_another_room(rows, by, command.to)):
        raise Refused("forbidden.delegate", "forbidden")
    return [] if command.to == (ask.delegated_to or "") else [e.AskDelegated(ask_id=ask.id, to=command.to)]


def withdraw_ask(rows: Rows, command: WithdrawAsk, context: Context) -> list[Event]:
    by = need_principal(command)
    ask = rows.get(ASKS, command.ask_id)
    if ask is None or not (may_see_ask(rows, by, ask) or ask.asker.by == by.id):
        raise ask_not_found(command.ask_id)
    if not by.may_operate and ask.asker.by != by.id:
        raise Refused("forbidden.withdraw", "forbidden")
    if ask.state != "open":
        return []
    reason = command.said or command.reason.strip()[:500] or build_sentence("ask_reason.taken_back")
    return [e.AskWithdrawn(ask_id=ask.id, reason=reason)]


def time_ask(rows: Rows, command: TimeAsk, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    ask = rows.get(ASKS, command.ask_id)
    if ask is not None and is_lapsed(ask, context.now):
        return [e.AnswerLapsed(ask_id=ask.id, reason=NOT_TAKEN)]
    if ask is None or ask.state != "open":
        return []
    if is_over_time(ask, context.now):
        return build_overdue_events(ask)
    events: list[Event] = []
    if 0 < ask.snoozed_until <= context.now:
        events.append(e.AskSnoozed(ask_id=ask.id, until=0))
    if not ask.warned and 0 < ask.warn_at <= context.now:
        events.append(e.AskWarned(ask_id=ask.id))
    return events


def take_answer(rows: Rows, command: TakeAnswer, context: Context) -> list[Event]:
    ask = rows.get(ASKS, command.ask_id)
    by = need_principal(command)
    if ask is None or (ask.asker.by != by.id and not by.may_operate):
        raise ask_not_found(command.ask_id)
    if is_lapsed(ask, context.now):
        return [e.AnswerLapsed(ask_id=ask.id, reason=NOT_TAKEN)]
    return [] if ask.state == "open" or ask.taken_at or ask.lapsed_at else [e.AnswerTaken(ask_id=ask.id)]


DECIDE: dict[type[Command], Decide] = {
    RaiseAsk: raise_ask,
    AnswerAsk: answer_ask,
    SnoozeAsk: snooze_ask,
    DelegateAsk: delegate_ask,
    WithdrawAsk: withdraw_ask,
    TimeAsk: time_ask,
    TakeAnswer: take_answer,
}
