"""The events of asks."""

from typing import ClassVar

from greenroom.log.model import Event
from greenroom.rules.asks.model import AnswerFields, AskFields
from greenroom.sentences import Words


class AskRaised(AskFields, Event, frozen=True, kw_only=True):
    """Somebody waits for a person."""

    privileged: ClassVar[bool] = True
    ask_id: str
    wish: str

    def count_file_bytes(self) -> int:
        return sum(content.size for content in self.contents if content.file)


class AskAnswered(AnswerFields, Event, frozen=True, kw_only=True):
    """An ask was answered, by a person or by a rule."""

    privileged: ClassVar[bool] = True
    ask_id: str
    device: str = ""
    """The connection that the answer came by, of those that have an id."""
    seat: str = ""
    """Whose vote it is, where only some are asked."""

    def count_file_bytes(self) -> int:
        return sum(content.size for content in self.contents if content.file)


class AskApproved(Event, frozen=True, kw_only=True):
    """One of several people has approved; others have not answered yet."""

    privileged: ClassVar[bool] = True
    side: ClassVar[str] = "approvals"
    ask_id: str
    name: str
    seat: str = ""


class AskOpposed(Event, frozen=True, kw_only=True):
    """One of several people has said no; the others can still outvote it."""

    privileged: ClassVar[bool] = True
    side: ClassVar[str] = "refusals"
    ask_id: str
    name: str
    seat: str
    text: str = ""


class PollVoted(Event, frozen=True, kw_only=True):
    """One of several people has chosen an option of a poll, and may choose another. The audit has the result."""

    side: ClassVar[str] = "votes"
    ask_id: str
    name: str
    option: str
    seat: str = ""
    text: str = ""


AskVote = AskApproved | AskOpposed | PollVoted
"""Votes, each with the field of the ask that keeps it."""


class AskExpired(Event, frozen=True, kw_only=True):
    """Nobody answered in time. That refuses, but is nobody's denial."""

    privileged: ClassVar[bool] = True
    refusal: ClassVar[bool] = True
    ask_id: str


class AskWithdrawn(Event, frozen=True, kw_only=True):
    """Nobody waits for this answer any more."""

    privileged: ClassVar[bool] = True
    ask_id: str
    reason: Words
    gone: bool = False
    """Whether the asker is gone, so that nobody needs the answer."""


class AskSnoozed(Event, frozen=True, kw_only=True):
    """An ask is out of sight until a time; 0: it is back."""

    ask_id: str
    until: int


class AskDelegated(Event, frozen=True, kw_only=True):
    """An ask was handed to somebody."""

    privileged: ClassVar[bool] = True
    ask_id: str
    to: str


class AskWarned(Event, frozen=True, kw_only=True):
    """An ask will soon be refused by silence."""

    ask_id: str


class AskTimesMoved(Event, frozen=True, kw_only=True):
    """The clock was set: asks are open for as long as they would have been."""

    ms: int


class AnswerMissed(Event, frozen=True, kw_only=True):
    """Who asked has not waited for the answer, and cannot be given it any more."""

    ask_id: str
    reason: Words


class AnswerLapsed(Event, frozen=True, kw_only=True):
    """The answer of an ask has become void: an asker that still needs one asks again."""

    privileged: ClassVar[bool] = True
    ask_id: str
    reason: Words


class AnswerTaken(Event, frozen=True, kw_only=True):
    """The waiting side has the answer."""

    ask_id: str
