"""The projection of asks."""

from typing import Any, get_args

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Context, Event, Noun, Project, Recorded, Rows, Tx
from greenroom.rules.access.model import CREDENTIALS
from greenroom.rules.asks import events as e
from greenroom.rules.asks.decide import DECIDE
from greenroom.rules.asks.model import ASK_FILES, ASKS, Approval, Ask, AskAnswer, AskFile, Content
from greenroom.rules.asks.queries import is_untaken_yes
from greenroom.rules.asks.votes import add_vote
from greenroom.rules.clock.model import ClockMoved

replace = msgspec.structs.replace


def ask_raised(tx: Tx, event: e.AskRaised, record: Recorded) -> None:
    asker = event.asker
    ask = copy_fields(
        event,
        Ask,
        id=event.ask_id,
        state="open",
        asker=asker,
        key=event.wish,
        asked_at=record.at,
        agent_id=asker.agent_id,
        run_id=asker.run_id,
        workflow_run_id=asker.workflow_run_id,
    )
    _put(tx, ask, record)
    _keep_files(tx, event.ask_id, event.contents)


def ask_answered(tx: Tx, event: e.AskAnswered, record: Recorded) -> None:
    ask = tx.get(ASKS, event.ask_id)
    if ask is None:
        return
    votes: dict[str, list[Approval]] = {}
    if event.verdict == "approve" and not event.rule:
        votes = _add_vote(tx, ask, "approvals", event, record)
    elif event.verdict == "deny" and event.seat:
        votes = _add_vote(tx, ask, "refusals", event, record)
    answer = copy_fields(event, AskAnswer, by=record.by, at=record.at)
    _put(tx, replace(ask, state="answered", answer=answer, closed_at=record.at, **votes), record)
    _keep_files(tx, event.ask_id, event.contents)


def vote_cast(tx: Tx, event: e.AskVote, record: Recorded) -> None:
    ask = tx.get(ASKS, event.ask_id)
    if ask is not None:
        _put(tx, replace(ask, **_add_vote(tx, ask, event.side, event, record)), record)


def _add_vote(
    tx: Tx, ask: Ask, side: str, event: e.AskVote | e.AskAnswered, record: Recorded
) -> dict[str, list[Approval]]:
    said = {name: getattr(event, name) for name in Approval.__struct_fields__ if hasattr(event, name)}
    credential = tx.get(CREDENTIALS, record.by)
    person_id = credential.person_id if credential is not None else None
    return add_vote(ask, side, Approval(**said, by=record.by, at=record.at, person_id=person_id))


def ask_expired(tx: Tx, event: e.AskExpired, record: Recorded) -> None:
    _change(tx, event.ask_id, record, state="expired", closed_at=record.at)


def ask_withdrawn(tx: Tx, event: e.AskWithdrawn, record: Recorded) -> None:
    _change(tx, event.ask_id, record, state="withdrawn", reason=event.reason, closed_at=record.at)


def ask_snoozed(tx: Tx, event: e.AskSnoozed, record: Recorded) -> None:
    _change(tx, event.ask_id, record, snoozed_until=event.until)


def ask_delegated(tx: Tx, event: e.AskDelegated, record: Recorded) -> None:
    _change(tx, event.ask_id, record, delegated_to=event.to or None)


def ask_warned(tx: Tx, event: e.AskWarned, record: Recorded) -> None:
    _change(tx, event.ask_id, record, warned=True)


def ask_times_moved(tx: Tx, event: e.AskTimesMoved, record: Recorded) -> None:
    for ask in tx.find(ASKS, {"state": "open"}, order="_seq"):
        if ask.deadline:  # until when it is snoozed is a date, and stays
            warn_at = max(1, ask.warn_at + event.ms) if ask.warn_at else 0
            _put(tx, replace(ask, deadline=max(1, ask.deadline + event.ms), warn_at=warn_at), record)


def answer_missed(tx: Tx, event: e.AnswerMissed, record: Recorded) -> None:
    _change(tx, event.ask_id, record, reason=event.reason)


def answer_lapsed(tx: Tx, event: e.AnswerLapsed, record: Recorded) -> None:
    _change(tx, event.ask_id, record, lapsed_at=record.at, reason=event.reason)


def answer_taken(tx: Tx, event: e.AnswerTaken, record: Recorded) -> None:
    _change(tx, event.ask_id, record, taken_at=record.at)


def _change(tx: Tx, ask_id: str, record: Recorded, **fields: Any) -> None:
    ask = tx.get(ASKS, ask_id)
    if ask is not None:
        _put(tx, replace(ask, **fields), record)


def _put(tx: Tx, ask: Ask, record: Recorded) -> None:
    tx.put(ASKS, replace(ask, seq=record.seq, due=_compute_next_time(ask)))


def _compute_next_time(ask: Ask) -> int:
    if ask.state != "open":
        return ask.answer.lapses_at if ask.answer is not None and is_untaken_yes(ask) else 0
    times = (ask.deadline, ask.snoozed_until, 0 if ask.warned else ask.warn_at)
    return min((time for time in times if time), default=0)


def _keep_files(tx: Tx, ask_id: str, contents: list[Content]) -> None:
    for one in contents:
        if one.file is not None:
            tx.put(ASK_FILES, copy_fields(one, AskFile, ask_id=ask_id, file=one.file))


PROJECT: dict[type[Event], Project] = {
    e.AskRaised: ask_raised,
    e.AskAnswered: ask_answered,
    **dict.fromkeys(get_args(e.AskVote), vote_cast),
    e.AskExpired: ask_expired,
    e.AskWithdrawn: ask_withdrawn,
    e.AskSnoozed: ask_snoozed,
    e.AskDelegated: ask_delegated,
    e.AskWarned: ask_warned,
    e.AskTimesMoved: ask_times_moved,
    e.AnswerMissed: answer_missed,
    e.AnswerLapsed: answer_lapsed,
    e.AnswerTaken: answer_taken,
}


def _on_clock_moved(rows: Rows, event: ClockMoved, context: Context) -> list[Event]:
    return [e.AskTimesMoved(ms=event.ms)]


ASKS_NOUN = Noun(
    name="asks",
    tables=(ASKS, ASK_FILES),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    follow={ClockMoved: _on_clock_moved},
    sources=("greenroom.rules.asks.model", "greenroom.rules.asks.project", "greenroom.rules.asks.queries"),
)
