"""The commands of threads."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.log.model import Command
from greenroom.rules.threads.model import MessageRole, TakeoverKind, ThreadState
from greenroom.validation import Sent

ThreadId = Annotated[str, Meta(description="The thread's id, from thread_list, thread_create or bus_connect.")]


class CreateThread(Command, frozen=True, kw_only=True):
    """Open a thread and join it; a topic that exists already is that thread."""

    thread_id: str
    topic: str
    creator_id: str | None = None
    nonce: str
    metadata: dict[str, Any] | None = None
    system_prompt: str | None = None
    template: str | None = None


class OpenMailbox(Command, frozen=True, kw_only=True):
    """Make sure that an agent has a mailbox."""

    thread_id: str
    agent_id: str
    nonce: str


class IssueToken(Command, frozen=True, kw_only=True):
    """Join a thread if need be, and get a fresh reply token."""

    thread_id: str
    member_id: str
    nonce: str


class PostMessage(Command, frozen=True, kw_only=True):
    """Say something in a thread. With `strict` the sync fields must be there and right."""

    message_id: str
    thread_id: str
    author: str | None
    content: str
    nonce: str
    body: str | None = None
    body_bytes: int = 0
    size: int = 0
    """The length of the whole content, when it is kept as a file."""
    role: MessageRole = "user"
    priority: str = "normal"
    mentions: list[str] = []
    metadata: dict[str, Any] | None = None
    reply_to: str | None = None
    strict: bool = True
    expected_last_seq: int | None = None
    reply_token: str | None = None


class EditMessage(Command, frozen=True, kw_only=True):
    """Change what one has said; the old words are kept."""

    message_id: str
    content: str
    body: str | None = None
    body_bytes: int = 0
    size: int = 0


class React(Command, frozen=True, kw_only=True):
    """Put a reaction to a message; doing it twice is doing it once."""

    message_id: str
    agent_id: str | None
    reaction: str


class Unreact(Command, frozen=True, kw_only=True):
    """Take a reaction back."""

    message_id: str
    agent_id: str | None
    reaction: str


class SetThreadState(Command, frozen=True, kw_only=True):
    """Say where a thread's work stands; this also reopens a closed one."""

    thread_id: str
    state: Sent[ThreadState]


class CloseThread(Command, frozen=True, kw_only=True):
    """End a thread: nothing more is posted in it."""

    thread_id: ThreadId
    summary: Annotated[str | None, Meta(description="What came out of it, for whoever reads it later.")] = None


class ArchiveThread(Command, frozen=True, kw_only=True):
    """Put a thread away."""

    thread_id: ThreadId


class UnarchiveThread(Command, frozen=True, kw_only=True):
    """Take a thread out of the archive, as it was."""

    thread_id: str


class DeleteThread(Command, frozen=True, kw_only=True):
    """Remove a thread and all that is in it from sight and search."""

    thread_id: str


class UpdateThreadSettings(Command, frozen=True, kw_only=True):
    """Change a thread's settings; None leaves one as it is."""

    thread_id: str
    auto_administrator_enabled: bool | None = None
    timeout_seconds: int | None = None
    switch_timeout_seconds: int | None = None


class RenameThread(Command, frozen=True, kw_only=True):
    """Give a thread another topic."""

    thread_id: str
    topic: str


class RaiseDecision(Command, frozen=True, kw_only=True):
    """Ask the person about a silent thread's administration; the coordinator does, once for each silence."""

    thread_id: str
    message_id: str
    instruction_id: str
    kind: TakeoverKind
    candidate_id: str | None
    about_seq: int


class DecideAdmin(Command, frozen=True, kw_only=True):
    """Answer a raised decision: takeover or cancel, switch or keep. `result_id` is the message that says so."""

    thread_id: str
    action: str
    result_id: str
    candidate_admin_id: str | None = None
    source_message_id: str | None = None


class CreateTemplate(Command, frozen=True, kw_only=True):
    """Keep a template for new threads."""

    template_id: str
    name: str
    system_prompt: str
    description: str = ""
    default_metadata: dict[str, Any] | None = None


class DeleteTemplate(Command, frozen=True, kw_only=True):
    """Remove a template; those that ship with Greenroom stay."""

    template_id: str


class KeepUpload(Command, frozen=True, kw_only=True):
    """Note an image whose bytes are stored and checked."""

    upload_id: str
    blob: str
    name: str
    mime: str
    size: int


class CursorAdvance(msgspec.Struct, frozen=True):
    """How far a member has come in a thread."""

    thread_id: str
    member_id: str
    delivered: int
    seen: int


class AdvanceCursors(Command, frozen=True, kw_only=True):
    """Record deliveries, many at once."""

    reached: list[CursorAdvance]
