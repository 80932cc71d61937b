"""The commands of asks."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from greenroom.link.ask_kinds import AnswerScope, AnswerVerdict, AskKind
from greenroom.link.call_digest import Subject
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Command
from greenroom.rules.asks.model import Asker, AskQuestion, Content
from greenroom.rules.policy.remembered_rule import RuleChoice
from greenroom.sentences import Sentence, Words


class RaiseAsk(Command, frozen=True, kw_only=True):
    """Ask a person. An ask that exists, under this id or for the same request of the same asker, stays as it is.

    `wish` identifies equal requests; without it, `ask_id` does. With `again_ms`, a request whose answer was delivered
    longer ago than that is a new one; without it, the same request always finds the same ask.
    """

    ask_id: str
    kind: AskKind
    title: Words
    text: Words = ""
    asker: Asker | None = None
    """The asker, if the hub asks for somebody; None is the principal of the command."""
    wish: str | None = None
    again_ms: int | None = None
    thread_id: str | None = None
    room: str | None = None
    risk: Risk | None = None
    """Taken from who operates only; for all others the hub judges."""
    why: Words = ""
    rule: str = ""
    questions: list[AskQuestion] = []
    form: dict[str, Any] | None = None
    subject: Subject | None = None
    edits: bool = False
    contents: list[Content] = []
    labels: dict[str, str] = {}
    asked_of: list[str] = []
    """Who alone may answer; each has one vote. Taken from who operates only."""
    approvers: int = 1
    timeout_s: int | None = None
    """How long it may wait; None is what the settings say for its kind and risk, 0 forever."""


class AnswerAsk(Command, frozen=True, kw_only=True):
    """Answer an ask. The first answer wins, and only if `digest` matches; approving a call needs it."""

    ask_id: str
    verdict: AnswerVerdict
    text: str = ""
    options: list[list[str]] = []
    arguments: Any = None
    contents: list[Content] = []
    form: Any = None
    scope: AnswerScope = "once"
    remember: RuleChoice | None = None
    """How far the rule reaches, where the scope is a rule; None is as far as the call."""
    digest: str | None = None
    way: Literal["alone", "batch", "ticket"] = "alone"
    """Looked at by itself, together with others, or from a notification: high risk is approved alone only."""
    name: str = ""
    """The name that the person gives, to be shown beside what the credential proves."""
    device: str = ""
    """The connection that the answer came by, where a person has several."""


class SnoozeAsk(Command, frozen=True, kw_only=True):
    """Put an ask out of sight for some seconds, or until a time."""

    ask_id: str
    for_s: int | None = None
    until: int | None = None
    """A time in milliseconds, instead of for_s; 0 brings it back."""


class DelegateAsk(Command, frozen=True, kw_only=True):
    """Hand an ask to a person, or with `room:NAME` to the people of a room, who then see it too; "" takes it back."""

    ask_id: str
    to: Annotated[str, Meta(description="a person, or room:NAME for the people of a room; empty takes it back")]


class WithdrawAsk(Command, frozen=True, kw_only=True):
    """Withdraw an ask: nobody waits for its answer any more."""

    ask_id: str
    reason: Annotated[str, Meta(description="the reason, for the record")] = ""
    said: Sentence | None = None
    """The reason that the hub itself gives, in place of the other."""


class TimeAsk(Command, frozen=True, kw_only=True):
    """An ask's time has come: it is shown again, warned of, or refused by silence. The hub's timer says so."""

    ask_id: str


class TakeAnswer(Command, frozen=True, kw_only=True):
    """The waiting side has been handed the answer."""

    ask_id: str
