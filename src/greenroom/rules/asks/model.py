"""Rows of asks: who waits, for what exactly, and the answer."""

from typing import Any, Literal

import msgspec

from greenroom.link.ask_kinds import AnswerScope, AnswerVerdict, AskKind, AskState
from greenroom.link.call_digest import Subject
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Row, Table
from greenroom.sentences import Sentence, Words

ROOM = "room:"
"""The prefix of a room in `delegated_to` and `asked_of`; anything else there names a person."""


ContentType = Literal["text", "image", "audio", "resource"]


class Asker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The asker, and how the waiting side finds its ask again."""

    by: str
    """The id of the principal that raised it."""
    name: str = ""
    agent_id: str | None = None
    run_id: str | None = None
    call_id: str | None = None
    native: str | None = None
    """The runtime's own id of what waits, for the node."""
    workflow_run_id: str | None = None
    step: str | None = None
    key: str | None = None
    """The caller's own id for the request, if it gave one."""


class AskOption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that can be chosen."""

    label: str
    description: str = ""


class AskQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the questions of an ask."""

    question: str
    header: str = ""
    options: list[AskOption] = []
    multiple: bool = False
    custom: bool = True
    """Whether an answer in words of one's own is taken beside the options."""


class Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of an ask or of an answer. Everything but text is stored as a file, named by its SHA-256."""

    type: ContentType
    text: str = ""
    mime: str = ""
    uri: str = ""
    name: str = ""
    file: str | None = None
    size: int = 0


class Approval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One approval where several are needed, one denial where others can outvote it, or one choice in a poll."""

    by: str
    name: str
    at: int
    seat: str = ""
    """The one of `asked_of` whose vote it is."""
    person_id: str | None = None
    option: str = ""
    """The choice in a poll."""


class AnswerFields(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says, in its event and on its ask."""

    verdict: AnswerVerdict
    name: str
    text: str = ""
    options: list[list[str]] = []
    """The chosen options, for each question."""
    arguments: Any = None
    """The arguments as they were changed; None leaves them as they were asked."""
    digest: str = ""
    """What may run: the digest of the subject, with changed arguments if there are any."""
    contents: list[Content] = []
    form: Any = None
    scope: AnswerScope = "once"
    rule: str = ""
    """What answered when it was no person: the rule, with the words it gives for it."""
    lapses_at: int = 0
    """Of an approved call: when the approval lapses unless it is picked up before."""


class AskAnswer(AnswerFields, msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer, and who gave it."""

    by: str
    at: int


class AskFields(msgspec.Struct, frozen=True, kw_only=True):
    """What an ask is from its beginning on, in its event and its row."""

    kind: AskKind
    asker: Asker
    title: Words
    thread_id: str | None = None
    room: str | None = None
    risk: Risk = "low"
    why: Words = ""
    """Why it is asked: the words of the rule that made it an ask."""
    like: Sentence | None = None
    """Which calls a wider approval would cover."""
    rule: str = ""
    text: Words = ""
    questions: list[AskQuestion] = []
    form: dict[str, Any] | None = None
    """The JSON schema that an answer's form value must fit."""
    subject: Subject | None = None
    digest: str = ""
    edits: bool = False
    """Whether changed arguments are taken."""
    contents: list[Content] = []
    labels: dict[str, str] = {}
    """What the asker says of itself (project_directory, agent_name, reasoning_model_name, ...): never proof."""
    asked_of: list[str] = []
    """Who alone may answer: people by the names of their credentials, rooms as room:NAME; empty is whoever may."""
    approvers: int = 1
    deadline: int = 0
    """When silence becomes refusal; 0 waits forever."""
    warn_at: int = 0


class Ask(AskFields, Row, frozen=True, kw_only=True):
    """Somebody waits for a person."""

    id: str
    state: AskState
    key: str
    """What equal requests of one asker have in common, so that asking again finds the ask."""
    asked_at: int
    agent_id: str | None = None
    run_id: str | None = None
    workflow_run_id: str | None = None
    approvals: list[Approval] = []
    refusals: list[Approval] = []
    """Who of `asked_of` has said no while the others could still outvote it."""
    votes: list[Approval] = []
    """Who has chosen what in a poll."""
    warned: bool = False
    snoozed_until: int = 0
    delegated_to: str | None = None
    due: int = 0
    """The next time at which something happens by itself; 0 is never."""
    answer: AskAnswer | None = None
    closed_at: int = 0
    reason: Words = ""
    """Why it was withdrawn, or why its answer reaches nobody."""
    taken_at: int = 0
    """When the waiting side was handed the answer."""
    lapsed_at: int = 0
    """When an answer that nobody picked up became void."""
    seq: int = 0
    """The place in the log of what last changed it: lists are paged by it."""


class AskFile(Row, frozen=True, kw_only=True):
    """A file that an ask or its answer holds."""

    ask_id: str
    file: str
    mime: str
    size: int


ASKS = Table(
    "ask",
    Ask,
    ("id",),
    (
        ("state", "_seq"),
        ("state", "due"),
        ("key",),
        ("run_id", "state"),
        ("agent_id", "state"),
        ("workflow_run_id", "state"),
        ("room", "state"),
        ("thread_id", "state"),
        ("_seq",),
    ),
)
ASK_FILES = Table("ask_file", AskFile, ("ask_id", "file"), (("file",),), file="file")
