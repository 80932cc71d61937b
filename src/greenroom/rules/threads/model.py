"""Rows of threads, members and messages."""

from typing import Any, Literal, get_args

import msgspec

from greenroom.log.model import Row, Table
from greenroom.log.pages import PagedRow
from greenroom.sentences import Sentence

ThreadState = Literal["discuss", "implement", "review", "done"]
"""States that a thread may be set to; closed and archived have commands of their own."""
ThreadStatus = ThreadState | Literal["closed", "archived"]
MessageRole = Literal["user", "assistant", "system"]
STATES: tuple[ThreadState, ...] = get_args(ThreadState)
ALL_STATES: tuple[ThreadStatus, ...] = (*STATES, "closed", "archived")
OPEN_STATES = frozenset(STATES)
PRIORITIES = ("normal", "urgent", "system")
STOP_REASONS = ("convergence", "timeout", "error", "complete", "impasse")
ReceiptState = Literal["queued", "delivered", "seen", "acted"]
TakeoverKind = Literal["takeover", "switch"]
ROLES: tuple[MessageRole, ...] = get_args(MessageRole)


class ThreadSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What may be set per thread."""

    auto_administrator_enabled: bool = True
    timeout_seconds: int = 60
    switch_timeout_seconds: int = 60


class Thread(PagedRow, frozen=True, kw_only=True):
    """A lasting conversation. `current_seq` is the seq of its newest message, 0 before the first."""

    id: str
    seq: int = 0
    topic: str
    status: ThreadStatus
    created_at: int
    owner: str
    """The credential that created it: a caller who may not see all threads sees those of the same owner."""
    current_seq: int = 0
    admin_id: str | None = None
    admin_since: int = 0
    admin_kind: str = "creator"
    """How the admin became admin: creator, takeover or switch."""
    closed_at: int | None = None
    summary: str | None = None
    template_id: str | None = None
    settings: ThreadSettings = ThreadSettings()
    status_before: ThreadStatus | None = None
    """The status that an archived thread had."""
    messages: int = 0
    last_at: int = 0
    pinned: bool = False
    mailbox_of: str | None = None
    """The agent whose mailbox this is: seen by it and by operators, posted to by everybody."""


class Brief(Row, frozen=True, kw_only=True):
    """What a thread was opened with; apart from the thread, which changes with every post."""

    thread_id: str
    system_prompt: str | None = None
    metadata: dict[str, Any] | None = None


class Payload(Row, frozen=True, kw_only=True):
    """A file that holds the content of a message, for as long as the message is there."""

    blob: str
    message_id: str
    thread_id: str


class Reaction(msgspec.Struct, frozen=True):
    agent_id: str
    reaction: str
    at: int


class MessageFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a message says, in its event and its row."""

    thread_id: str
    author_id: str
    author_name: str
    role: MessageRole
    content: str
    agent: bool = False
    """Whether the author is an agent."""
    body: str | None = None
    """The file that holds the whole content, when `content` is only its beginning."""
    body_bytes: int = 0
    priority: str = "normal"
    mentions: list[str] = []
    metadata: dict[str, Any] | None = None
    reply_to: str | None = None
    handoff_target: str | None = None
    stop_reason: str | None = None
    said: Sentence | None = None
    """The sentence that `content` has in English, if the hub says it."""


class Message(MessageFields, Row, frozen=True, kw_only=True):
    """Something posted. Its `seq` is the seq of the log."""

    id: str
    seq: int
    created_at: int
    edited_at: int | None = None
    edit_version: int = 0
    reactions: list[Reaction] = []


class MessageRevision(Row, frozen=True, kw_only=True):
    """What a message said before an edit."""

    message_id: str
    thread_id: str
    version: int
    number: str
    old_content: str
    old_body: str | None = None
    old_body_bytes: int = 0
    edited_by: str
    edited_at: int


class Member(Row, frozen=True, kw_only=True):
    """An agent or a person in a thread: its reply tokens, and how far it has come.

    A reply token is `<nonce>-<number>`: known by the nonce, used unless the number is among `unused`.
    """

    thread_id: str
    member_id: str
    joined_at: int
    nonce: str
    issued: int = 0
    unused: list[int] = []
    refresh: bool = False
    """A sync error was answered; the next msg_wait returns at once with a fresh context."""
    delivered: int = 0
    """The newest seq that was handed over."""
    seen: int = 0
    """The newest seq that the member has shown to know."""
    acted: int = 0
    """The newest seq that the member knew when it last posted or reacted."""


class Author(Row, frozen=True, kw_only=True):
    """How much an author posted recently, for the rate limit."""

    author_id: str
    minute: int
    count: int
    before: int = 0


class ThreadTemplate(Row, frozen=True, kw_only=True):
    """What a new thread may start from."""

    id: str
    name: str
    system_prompt: str
    created_at: int = 0
    description: str = ""
    default_metadata: dict[str, Any] | None = None
    builtin: bool = False


class Decision(Row, frozen=True, kw_only=True):
    """A question to the person about a thread's administration, answered once."""

    message_id: str
    thread_id: str
    kind: TakeoverKind
    candidate_id: str | None
    about_seq: int
    """The thread's newest message when it was raised: it is raised once for each silence."""
    raised_at: int
    action: str | None = None
    decided_by: str | None = None
    decided_at: int | None = None


class Upload(Row, frozen=True, kw_only=True):
    """An image that was uploaded and checked."""

    id: str
    blob: str
    name: str
    mime: str
    size: int
    by: str
    at: int


class UploadTotal(Row, frozen=True, kw_only=True):
    """How much one principal has uploaded."""

    by: str
    size: int


class UploadPlace(Row, frozen=True, kw_only=True):
    """A thread in which an upload is shown: whoever may look into the thread may see the image."""

    upload_id: str
    thread_id: str


THREADS = Table(
    "thread",
    Thread,
    ("id",),
    (("topic",), ("status", "seq"), ("created_at",), ("seq",), ("mailbox_of", "status"), ("_seq",)),
)
MESSAGES = Table("message", Message, ("id",), (("thread_id", "seq"), ("thread_id", "_seq")), text="content")
BRIEFS = Table("brief", Brief, ("thread_id",))
PAYLOADS = Table("payload", Payload, ("blob", "message_id"), (("blob",), ("thread_id",)), file="blob")
EDITS = Table("edit", MessageRevision, ("message_id", "number"), (("message_id", "version"), ("thread_id",)))
MEMBERS = Table("member", Member, ("thread_id", "member_id"), (("thread_id",), ("member_id",)))
AUTHORS = Table("author", Author, ("author_id",))
TEMPLATES = Table("template", ThreadTemplate, ("id",), (("created_at",),))
DECISIONS = Table("decision", Decision, ("message_id",), (("thread_id", "about_seq"),))
UPLOADS = Table("upload", Upload, ("id",), (("blob",),), file="blob")
UPLOAD_TOTALS = Table("upload_total", UploadTotal, ("by",))
UPLOAD_PLACES = Table("upload_place", UploadPlace, ("upload_id", "thread_id"), (("upload_id",), ("thread_id",)))
