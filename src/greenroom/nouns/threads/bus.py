"""The bus as doors use it: what takes more than one command, or a wait."""

import asyncio
from typing import Any, NamedTuple

from greenroom.log.blobs import Blobs
from greenroom.log.errors import Refused
from greenroom.log.ids import new_id, new_secret
from greenroom.log.log import Log
from greenroom.log.model import Done, Rows
from greenroom.nouns.access.model import Principal
from greenroom.nouns.agents.model import Agent
from greenroom.nouns.agents.presence import Presence
from greenroom.nouns.agents.queries import need_own_agent
from greenroom.nouns.threads.commands import EditMessage, IssueToken, OpenMailbox, PostMessage
from greenroom.nouns.threads.deliveries import Deliveries
from greenroom.nouns.threads.events import MessagePosted, PostRefused, TokenIssued
from greenroom.nouns.threads.model import OPEN_STATES, Member, Message, Thread
from greenroom.nouns.threads.queries import PAGE, find_messages, get_member, need_thread
from greenroom.nouns.threads.sync import held_token
from greenroom.nouns.threads.waiting import Waiter, Waiters

MAX_WAIT_MS = 24 * 3600 * 1000


class SyncContext(NamedTuple):
    """What a member needs for its next post."""

    current_seq: int
    reply_token: str | None


class Posted(NamedTuple):
    """A message that is in the log, and the context for the next one (None for who needs none)."""

    event: MessagePosted
    seq: int
    at: int
    sync: SyncContext | None


class SyncRefused(Exception):
    """A post did not fit the sync rules. The fact is recorded; this carries what the author must read."""

    def __init__(self, event: PostRefused, new_messages: list[Message]) -> None:
        super().__init__(event.code)
        self.event = event
        self.new_messages = new_messages


class Waited(NamedTuple):
    """What a wait brought: messages, maybe none, and the context to post on (None for who is no member)."""

    messages: list[Message]
    sync: SyncContext


class Bus:
    """Talks to the log on behalf of doors."""

    def __init__(
        self, log: Log, blobs: Blobs, presence: Presence, waiters: Waiters, deliveries: Deliveries, inline_chars: int
    ) -> None:
        self._log = log
        self._blobs = blobs
        self._inline = inline_chars
        self.presence = presence
        self.waiters = waiters
        self.deliveries = deliveries

    @property
    def rows(self) -> Rows:
        return self._log.rows

    async def post(
        self, by: Principal, thread_id: str, author: str | None, content: str, *, strict: bool, **fields: Any
    ) -> Posted:
        """Post a message; raises Refused, or SyncRefused when the author must read first."""
        content, body, size = await self._large(content)
        command = PostMessage(
            by=by,
            message_id=new_id("msg"),
            thread_id=thread_id,
            author=author,
            content=content,
            body=body,
            size=size,
            nonce=new_secret(12),
            strict=strict,
            **fields,
        )
        done = await self._log.do(command)
        record = done.records[-1]
        event = record.event
        if isinstance(event, PostRefused):
            raise SyncRefused(event, find_messages(self.rows, thread_id, after_seq=event.expected_last_seq or 0))
        if event.agent:
            self.presence.hear(event.author_id, "msg_post")
        sync = SyncContext(record.seq, event.next_token) if event.next_token else None
        return Posted(event, record.seq, record.at, sync)

    async def edit(self, by: Principal, message_id: str, content: str) -> Done:
        """Change a message."""
        content, body, size = await self._large(content)
        return await self._log.do(EditMessage(by=by, message_id=message_id, content=content, body=body, size=size))

    async def mail(self, by: Principal, agent_id: str, content: str, **fields: Any) -> Posted:
        """Post a message into an agent's mailbox."""
        mailbox = mailbox_of(agent_id)
        await self._log.do(OpenMailbox(by=by, thread_id=mailbox, agent_id=agent_id, nonce=new_secret(12)))
        return await self.post(by, mailbox, None, content, strict=False, **fields)

    async def sync_context(self, by: Principal, thread_id: str, member_id: str | None) -> SyncContext:
        """A fresh reply token, joining the thread if need be."""
        wanted = member_id or by.agent_id or "human"
        done = await self._log.do(IssueToken(by=by, thread_id=thread_id, member_id=wanted, nonce=new_secret(12)))
        if by.agent_id:
            self.presence.hear(by.agent_id, "sync")
        return SyncContext(need_thread(self.rows, by, thread_id).current_seq, done.first(TokenIssued).token)

    async def wait(
        self,
        by: Principal,
        thread_id: str,
        after_seq: int | None,
        timeout_ms: int,
        *,
        agent_id: str | None = None,
        for_agent: str | None = None,
        limit: int = PAGE,
    ) -> Waited:
        """Messages after a seq, as soon as there are any; see the sync rules for when it returns with none.

        Without `after_seq` the member goes on from where it was: its cursor is durable.
        """
        thread = need_thread(self.rows, by, thread_id)
        agent = self._waiting_agent(by, agent_id)
        member = get_member(self.rows, thread_id, agent.id) if agent else None
        seen = (member.delivered if member else 0) if after_seq is None else after_seq
        if agent and member and after_seq is not None:
            self.deliveries.note(thread_id, agent.id, seen=min(after_seq, thread.current_seq))
        wait_ms = max(0, min(timeout_ms, MAX_WAIT_MS))
        with self.waiters.waiting(thread_id, agent.id if agent else None, wait_ms) as waiter:
            messages = _wanted(find_messages(self.rows, thread_id, after_seq=seen, limit=limit), for_agent)
            if not messages and not _must_refresh(member, seen, thread) and thread.status in OPEN_STATES:
                messages = await self._fresh(waiter, for_agent, wait_ms / 1000)
        return await self._waited(by, thread_id, agent, messages[:limit])

    def _waiting_agent(self, by: Principal, agent_id: str | None) -> Agent | None:
        if agent_id or by.agent_id:
            return need_own_agent(self.rows, by, agent_id or by.agent_id)
        return None

    async def _fresh(self, waiter: Waiter, for_agent: str | None, timeout_s: float) -> list[Message]:
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    posted = await waiter.fresh
            except TimeoutError:
                return []
            waiter.fresh = asyncio.get_running_loop().create_future()
            messages = _wanted(posted, for_agent)
            if messages or not posted:
                return messages

    async def _waited(self, by: Principal, thread_id: str, agent: Agent | None, messages: list[Message]) -> Waited:
        thread = need_thread(self.rows, by, thread_id)
        current = max(thread.current_seq, messages[-1].seq if messages else 0)
        if agent is None:
            return Waited(messages, SyncContext(current, None))
        member = get_member(self.rows, thread_id, agent.id)
        if messages:
            self.deliveries.note(thread_id, agent.id, delivered=messages[-1].seq)
        if member is not None and member.unused and not member.refresh:
            return Waited(messages, SyncContext(current, held_token(member)))
        if "chat" not in by.rights or thread.status not in OPEN_STATES:
            return Waited(messages, SyncContext(current, None))
        context = await self.sync_context(by, thread_id, agent.id)
        return Waited(messages, SyncContext(current, context.reply_token))

    async def _large(self, content: str) -> tuple[str, str | None, int]:
        """The content to keep in the log, and where the whole is when that is only its beginning."""
        if len(content) <= self._inline:
            return content, None, len(content)
        if len(content) > self._log.settings.max_content_chars:
            limit = self._log.settings.max_content_chars
            raise Refused("content_too_long", f"Keep a message under {limit} characters.", "too_large")
        name = await asyncio.to_thread(self._blobs.keep, content.encode())
        return content[: self._inline], name, len(content)

    def content_of(self, message: Message) -> str:
        """The whole content of a message."""
        whole = self._blobs.read(message.body) if message.body else None
        return message.content if whole is None else whole.decode()


def mailbox_of(agent_id: str) -> str:
    """The thread that is an agent's mailbox."""
    return f"mbx_{agent_id}"


def _wanted(messages: list[Message], for_agent: str | None) -> list[Message]:
    return messages if for_agent is None else [m for m in messages if m.handoff_target == for_agent]


def _must_refresh(member: Member | None, seen: int, thread: Thread) -> bool:
    """A member whose context is void gets a fresh one at once: after a sync error, or behind and without a token."""
    return member is not None and (member.refresh or (not member.unused and seen < thread.current_seq))
