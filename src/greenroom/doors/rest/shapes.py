"""The REST door's shapes of agents, threads and messages, with the field names that the bus's clients know."""

import msgspec

from greenroom.clock import format_iso
from greenroom.json_types import Metadata
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Commit, Rows
from greenroom.rules.agents import model as agents
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads import model as threads
from greenroom.rules.threads.model import MessageRole, ThreadStatus
from greenroom.rules.threads.queries import get_brief
from greenroom.sentences import Words
from greenroom.services.bus import SyncContext
from greenroom.services.hub import Hub

PERSON, ROBOT, GEAR = "👤", "🤖", "⚙️"
_FACES = 10_000
_encode = msgspec.json.Encoder().encode


class Ok(msgspec.Struct):
    ok: bool = True


class ReplyWindow(msgspec.Struct, frozen=True):
    """How long a reply token is good for: it does not expire, and nothing may be left unread."""

    expires_at: str = "9999-12-31T23:59:59+00:00"
    max_new_messages: int = 0


REPLY_WINDOW = ReplyWindow()


class Sync(msgspec.Struct):
    """What the next strict post must send. There is no reply token for callers who may not post."""

    current_seq: int
    reply_token: str | None
    reply_window: ReplyWindow = REPLY_WINDOW


class RestReaction(msgspec.Struct):
    id: str
    message_id: str
    agent_id: str
    agent_name: str
    reaction: str
    created_at: str


class SentMessage(msgspec.Struct):
    """A message as it was sent. `author_id` is null when a person wrote it; `metadata` is JSON as a text."""

    id: str
    seq: int
    author: str
    author_id: str | None
    author_name: str
    author_emoji: str
    role: MessageRole
    content: str
    created_at: str
    priority: str
    reply_to_msg_id: str | None
    metadata: str | None


class RestMessage(SentMessage):
    """A message as it is now."""

    edited_at: str | None
    edit_version: int
    reactions: list[RestReaction]


class RestAgent(msgspec.Struct):
    id: str
    name: str
    display_name: str
    alias_source: str
    description: Words
    ide: str
    model: str
    emoji: str
    capabilities: list[str]
    skills: list[agents.AgentSkill]
    is_online: bool
    registered_at: str
    last_heartbeat: str
    last_activity: str
    last_activity_time: str
    is_sse_connected: bool = False


class RestWaiter(msgspec.Struct):
    """An agent that waits in a thread at the moment."""

    id: str
    display_name: str
    emoji: str


class RestThread(msgspec.Struct):
    id: str
    topic: str
    status: ThreadStatus
    system_prompt: str | None
    created_at: str
    updated_at: str
    waiting_agents: list[RestWaiter]
    template_id: str | None
    current_seq: int
    message_count: int
    closed_at: str | None
    summary: str | None
    admin_id: str | None
    pinned: bool


class AgentNameCache:
    """The names and emoji of agents, each looked up once: for one answer, or permanently if it receives changes."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._known: dict[str, agents.Agent | None] = {}

    def on_commit(self, commit: Commit) -> None:
        """Drop changed entries."""
        for change in commit.changes:
            self._known.pop(change.key, None)

    def get_agent(self, agent_id: str) -> agents.Agent | None:
        if agent_id not in self._known:
            if len(self._known) >= _FACES:
                self._known.clear()
            self._known[agent_id] = get_agent(self._rows, agent_id)
        return self._known[agent_id]

    def get_name(self, agent_id: str) -> str:
        found = self.get_agent(agent_id)
        return found.display_name or found.name if found else agent_id

    def get_emoji(self, agent_id: str) -> str:
        found = self.get_agent(agent_id)
        return (found and found.emoji) or ROBOT


def encode_metadata(metadata: Metadata | None, mentions: list[str]) -> str | None:
    """Metadata as its text, with the mentions in it."""
    if mentions:
        metadata = {**(metadata or {}), "mentions": mentions}
    return _encode(metadata).decode() if metadata else None


def choose_emoji(faces: AgentNameCache, author_id: str, is_agent: bool) -> str:
    if is_agent:
        return faces.get_emoji(author_id)
    return GEAR if author_id == "system" else PERSON


def get_author_id(author_id: str, is_agent: bool) -> str | None:
    return author_id if is_agent or author_id == "system" else None


def build_message(faces: AgentNameCache, row: threads.Message, content: str | None = None) -> RestMessage:
    """A message, with its whole `content` when the row holds only the beginning."""
    return RestMessage(
        id=row.id,
        seq=row.seq,
        author=row.author_name,
        author_id=get_author_id(row.author_id, row.agent),
        author_name=row.author_name,
        author_emoji=choose_emoji(faces, row.author_id, row.agent),
        role=row.role,
        content=row.content if content is None else content,
        created_at=format_iso(row.created_at),
        priority=row.priority,
        reply_to_msg_id=row.reply_to,
        metadata=encode_metadata(row.metadata, row.mentions),
        edited_at=None if row.edited_at is None else format_iso(row.edited_at),
        edit_version=row.edit_version,
        reactions=[build_reaction(faces, row.id, r) for r in row.reactions] if row.reactions else [],
    )


def build_opening_message(thread: threads.Thread, prompt: str) -> RestMessage:
    """A thread's system prompt, shown as a message before the first."""
    return RestMessage(
        id=f"sys-{thread.id}",
        seq=0,
        author="system",
        author_id="system",
        author_name="System",
        author_emoji=GEAR,
        role="system",
        content=prompt,
        created_at=format_iso(thread.created_at),
        priority="normal",
        reply_to_msg_id=None,
        metadata=None,
        edited_at=None,
        edit_version=0,
        reactions=[],
    )


def build_reaction(faces: AgentNameCache, message_id: str, row: threads.Reaction) -> RestReaction:
    name = faces.get_name(row.agent_id)
    place = f"{message_id}:{row.agent_id}:{row.reaction}"
    return RestReaction(place, message_id, row.agent_id, name, row.reaction, format_iso(row.at))


def build_sync(context: SyncContext) -> Sync:
    return Sync(context.current_seq, context.reply_token)


def build_agent(hub: Hub, row: agents.Agent) -> RestAgent:
    heard = hub.presence.get_last_activity(row.id)
    heard_at = format_iso(heard.at if heard else row.registered_at)
    return copy_fields(
        row,
        RestAgent,
        display_name=row.display_name or row.name,
        alias_source=choose_alias_source(row),
        emoji=row.emoji or ROBOT,
        is_online=row.state == "registered" and hub.presence.is_online(row.id),
        registered_at=format_iso(row.registered_at),
        last_heartbeat=heard_at,
        last_activity=heard.activity if heard else "registered",
        last_activity_time=heard_at,
    )


def choose_alias_source(row: agents.Agent) -> str:
    """Whether an agent chose the name that it is shown by."""
    return "user" if row.display_name else "auto"


def build_thread(hub: Hub, faces: AgentNameCache, row: threads.Thread) -> RestThread:
    waiting = dict.fromkeys(w.agent_id for w in hub.bus.waiters.find_waiters(row.id) if w.agent_id is not None)
    return copy_fields(
        row,
        RestThread,
        system_prompt=get_brief(hub.rows, row.id).system_prompt,
        created_at=format_iso(row.created_at),
        updated_at=format_iso(row.last_at),
        waiting_agents=[RestWaiter(a, faces.get_name(a), faces.get_emoji(a)) for a in waiting],
        message_count=row.messages,
        closed_at=None if row.closed_at is None else format_iso(row.closed_at),
    )
