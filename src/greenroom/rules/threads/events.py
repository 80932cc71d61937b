"""The events of threads."""

from typing import Any, ClassVar

from greenroom.log.model import Event
from greenroom.rules.threads.commands import CursorAdvance
from greenroom.rules.threads.model import MessageFields, TakeoverKind, ThreadSettings, ThreadState


class ThreadCreated(Event, frozen=True, kw_only=True):
    """A thread was opened."""

    thread_id: str
    topic: str
    owner: str
    admin_id: str | None = None
    system_prompt: str | None = None
    template_id: str | None = None
    metadata: dict[str, Any] | None = None
    mailbox_of: str | None = None


class MemberJoined(Event, frozen=True, kw_only=True):
    """An agent or a person came into a thread."""

    thread_id: str
    member_id: str
    nonce: str


class TokenIssued(Event, frozen=True, kw_only=True):
    """A member got a fresh reply token."""

    thread_id: str
    member_id: str
    number: int
    token: str


class MessagePosted(MessageFields, Event, frozen=True, kw_only=True):
    """A message was posted. `used` and `next` are the reply token it consumed and the one it gave.

    `token_of` is the member whose token was used, where that is not the author.
    """

    message_id: str
    used: int | None = None
    token_of: str | None = None
    next: int | None = None
    next_token: str | None = None
    expected_last_seq: int | None = None
    counted: bool = False
    """Whether it counts for the author's rate limit."""
    body_bytes: int = 0
    """The bytes of the file that `body` names; 0 in logs from before they were counted."""

    def count_file_bytes(self) -> int:
        return self.body_bytes


class PostRefused(Event, frozen=True, kw_only=True):
    """A post did not fit the sync rules: the member's reply tokens in the thread are void and it must read again."""

    refusal: ClassVar[bool] = True
    thread_id: str
    member_id: str
    code: str
    expected_last_seq: int | None
    current_seq: int


class MessageEdited(Event, frozen=True, kw_only=True):
    """An author changed a message. `edit_version` counts its edits."""

    message_id: str
    thread_id: str
    content: str
    body: str | None = None
    edited_by: str
    edit_version: int
    body_bytes: int = 0

    def count_file_bytes(self) -> int:
        return self.body_bytes


class ReactionAdded(Event, frozen=True, kw_only=True):
    """Somebody reacted to a message."""

    message_id: str
    thread_id: str
    agent_id: str
    reaction: str


class ReactionRemoved(Event, frozen=True, kw_only=True):
    """Somebody took a reaction back."""

    message_id: str
    thread_id: str
    agent_id: str
    reaction: str


class ThreadStateSet(Event, frozen=True, kw_only=True):
    """A thread's work stands somewhere else now."""

    thread_id: str
    state: ThreadState


class ThreadClosed(Event, frozen=True, kw_only=True):
    """A thread was ended."""

    thread_id: str
    summary: str | None = None


class ThreadArchived(Event, frozen=True, kw_only=True):
    """A thread was put away."""

    thread_id: str


class ThreadUnarchived(Event, frozen=True, kw_only=True):
    """A thread came out of the archive."""

    thread_id: str


class ThreadDeleted(Event, frozen=True, kw_only=True):
    """A thread was deleted with everything in it. `files` are the payloads that nothing else names.

    The event keeps who could see the thread, so that only they are notified.
    """

    privileged: ClassVar[bool] = True
    thread_id: str
    topic: str
    owner: str
    mailbox_of: str | None = None
    messages: int = 0
    files: list[str] = []


class ThreadSettingsChanged(Event, frozen=True, kw_only=True):
    """A thread's settings were changed."""

    thread_id: str
    settings: ThreadSettings


class ThreadRenamed(Event, frozen=True, kw_only=True):
    """A thread was given another topic."""

    thread_id: str
    topic: str


class AdminDecisionRaised(Event, frozen=True, kw_only=True):
    """A silent thread needs a person to say who administers it."""

    thread_id: str
    message_id: str
    kind: TakeoverKind
    candidate_id: str | None
    about_seq: int


class AdminDecided(Event, frozen=True, kw_only=True):
    """A person said who administers a thread."""

    privileged: ClassVar[bool] = True
    thread_id: str
    message_id: str | None
    action: str
    admin_id: str | None
    """The admin from now on; None leaves it."""


class TemplateCreated(Event, frozen=True, kw_only=True):
    """A template was kept."""

    template_id: str
    name: str
    system_prompt: str
    description: str = ""
    default_metadata: dict[str, Any] | None = None


class TemplateDeleted(Event, frozen=True, kw_only=True):
    """A template was removed."""

    template_id: str


class UploadKept(Event, frozen=True, kw_only=True):
    """An image was uploaded."""

    upload_id: str
    blob: str
    name: str
    mime: str
    size: int


class CursorsAdvanced(Event, frozen=True, kw_only=True):
    """Messages were handed over."""

    reached: list[CursorAdvance]
