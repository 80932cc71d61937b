"""Votes on an ask that several people decide: who has one, and which are still missing."""

from collections import Counter

from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.log.model import Event, Rows
from greenroom.rules.access.model import CREDENTIALS, OWNER_ID, Principal
from greenroom.rules.access.queries import build_principal, is_live
from greenroom.rules.asks.commands import AnswerAsk, RaiseAsk
from greenroom.rules.asks.events import AskAnswered, AskApproved, AskExpired, AskOpposed, PollVoted
from greenroom.rules.asks.model import ROOM, Approval, Ask

_MOST = 100
_MOST_OPTIONS = 20
_TEXT = 500


def need_voters(command: RaiseAsk) -> None:
    """Refuse an ask on which there could never be an answer."""
    names = command.asked_of
    if ASK_KINDS[command.kind].by_votes:
        _need_poll(command)
    if not 1 <= command.approvers <= _MOST or len(names) > _MOST:
        raise Refused("bad_ask.people", limit=_MOST)
    if len(set(names)) < len(names) or any(not name.strip() or len(name) > _MOST for name in names):
        raise Refused("bad_ask.named_twice")
    if names and command.approvers > len(names):
        raise Refused("bad_ask.quorum", approvers=command.approvers, people=len(names))


def _need_poll(command: RaiseAsk) -> None:
    if len(command.questions) != 1 or command.questions[0].multiple or command.questions[0].custom:
        raise Refused("bad_poll.question")
    labels = [option.label.strip() for option in command.questions[0].options]
    if not 2 <= len(labels) <= _MOST_OPTIONS or len(set(labels)) < len(labels) or not all(labels):
        raise Refused("bad_poll.options", limit=_MOST_OPTIONS)
    if command.timeout_s == 0 or command.approvers != 1 or command.form is not None:
        raise Refused("bad_poll.deadline")


def find_strangers(rows: Rows, names: list[str], now: int) -> list[str]:
    """The named people that nobody's credential identifies."""
    seats: set[str] = set()
    for kind in ("operator", "room"):
        given = rows.find(CREDENTIALS, {"kind": kind, "revoked_at": None})
        seats |= {seat for one in given if is_live(one, now) for seat in find_seats(build_principal(one))}
    return [name for name in names if name not in seats]


def is_of_another_room(rows: Rows, by: Principal, name: str) -> bool:
    """Whether the ask names somebody outside this person's room."""
    given = rows.find(CREDENTIALS, {"kind": "room", "revoked_at": None})
    return any(one.name == name and build_principal(one).room != by.room for one in given)


def find_seats(by: Principal) -> tuple[str, ...]:
    """What a person can be named as: their own name, the name of their first token, or their room's."""
    if by.kind == "room":
        return by.name, f"{ROOM}{by.room}"
    return by.name, "operator" if by.person_id == OWNER_ID else by.handle


def need_seat(by: Principal, ask: Ask) -> str:
    """Whose vote an answer is; empty if anybody may answer. A name that an answer claims is no proof."""
    if not ask.asked_of:
        return ""
    seat = next((name for name in find_seats(by) if name in ask.asked_of), None)
    if seat is None:
        raise Refused("not_asked", "forbidden", details={"asked_of": ask.asked_of}, people=ask.asked_of, name=by.name)
    return seat


def build_vote_events(by: Principal, ask: Ask, command: AnswerAsk, seat: str, name: str) -> list[Event]:
    """The vote to record while others are missing; none if the answer decides."""
    if ASK_KINDS[ask.kind].by_votes:
        option, text = command.options[0][0], command.text[:_TEXT]
        cast = PollVoted(ask_id=ask.id, name=name, option=option, seat=seat, text=text)
        vote = Approval(by=by.id, name=name, at=0, seat=seat, person_id=by.person_id, option=option)
        votes = add_vote(ask, "votes", vote)["votes"]
        is_over = bool(ask.asked_of) and len(votes) == len(ask.asked_of)
        return [cast, _build_result(ask, votes)] if is_over else [cast]
    if command.verdict == "approve" and ask.approvers > 1:
        if any(_is_of(by, one) or (seat and one.seat == seat) for one in ask.approvals):
            raise Refused("already_approved", "conflict")
        if len(ask.approvals) + 1 < ask.approvers:
            return [AskApproved(ask_id=ask.id, name=name, seat=seat)]
    elif command.verdict == "deny" and seat and ask.approvers > 1:
        others = {one.seat for one in ask.refusals} - {seat}
        if len(ask.asked_of) - len(others) - 1 >= ask.approvers:
            if any(one.seat == seat for one in ask.refusals):
                raise Refused("already_denied", "conflict")
            return [AskOpposed(ask_id=ask.id, name=name, seat=seat, text=command.text[:_TEXT])]
    return []


def build_overdue_events(ask: Ask) -> list[Event]:
    """What becomes of an ask when its deadline is over: a poll ends with its votes, all else is refused by silence."""
    return [_build_result(ask, ask.votes) if ask.votes else AskExpired(ask_id=ask.id)]


def _build_result(ask: Ask, votes: list[Approval]) -> AskAnswered:
    """The option with the most votes, and how many each has. A tie is a result too: nothing is chosen then."""
    counts = Counter(vote.option for vote in votes)
    most = max(counts.values())
    chosen = [option for option, count in counts.items() if count == most]
    said = " · ".join(f"{option.label}: {counts[option.label]}" for option in ask.questions[0].options)
    options = [chosen if len(chosen) == 1 else []]
    return AskAnswered(ask_id=ask.id, verdict="answer", name=ask.kind, text=said, options=options, digest=ask.digest)


def add_vote(ask: Ask, side: str, vote: Approval) -> dict[str, list[Approval]]:
    """The votes on an ask with one more. Each person or named voter has one vote, and the last counts."""
    votes = {"approvals": ask.approvals, "refusals": ask.refusals, "votes": ask.votes}
    if vote.seat:
        votes = {name: [one for one in some if one.seat != vote.seat] for name, some in votes.items()}
    elif side == "votes":
        people = (vote.person_id, vote.by)
        votes[side] = [one for one in ask.votes if one.by != vote.by and (one.person_id or one.by) not in people]
    votes[side] = [*votes[side], vote]
    return votes


def _is_of(by: Principal, vote: Approval) -> bool:
    """Whether a vote is this person's, with whichever of their tokens and logins they gave it."""
    return vote.by == by.id or (by.person_id is not None and vote.person_id == by.person_id)


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
