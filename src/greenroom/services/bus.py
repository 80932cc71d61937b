"""Operations of the bus, for the doors, that take more than one command or a wait."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from greenroom.errors import Refused
from greenroom.ids import new_id, new_nonce
from greenroom.log.blobs import Blobs
from greenroom.log.log import Log
from greenroom.log.model import Command, Done, Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import Agent
from greenroom.rules.agents.queries import need_own_agent
from greenroom.rules.threads.commands import EditMessage, IssueToken, OpenMailbox, PostMessage
from greenroom.rules.threads.decide_post import need_no_secret
from greenroom.rules.threads.events import MessagePosted, PostRefused, TokenIssued
from greenroom.rules.threads.model import OPEN_STATES, THREADS, Member, Message, Thread
from greenroom.rules.threads.queries import (
    PAGE,
    build_mailbox_id,
    find_messages,
    get_member,
    is_file_in_use,
    need_thread,
)
from greenroom.rules.threads.sync_rules import get_held_token
from greenroom.rules.threads.wait_page import WaitPage, build_message_filter, read_page
from greenroom.services.deliveries import Deliveries
from greenroom.services.presence import Presence
from greenroom.services.turn_queue import TurnQueue
from greenroom.services.waiters import Waiter, Waiters

MAX_WAIT_MS = 24 * 3600 * 1000
_FAR = 1000
"""A reader that is further behind than this, and wants few of the messages, is served in a thread."""


class SyncContext(NamedTuple):
    """What a member needs for its next post."""

    current_seq: int
    reply_token: str | None


class PostResult(NamedTuple):
    """A message that is in the log, and the context for the next one (None for callers that need none)."""

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


class WaitResult(NamedTuple):
    """What a wait returned: messages, if any, and the context to post with.

    Its current_seq is the newest seq up to which everything was delivered. Its token is None for callers that may not
    post.
    """

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
        self._turns = TurnQueue()
        self.presence = presence
        self.waiters = waiters
        self.deliveries = deliveries

    @property
    def rows(self) -> Rows:
        return self._log.rows

    async def post(
        self, by: Principal, thread_id: str, author: str | None, content: str, *, strict: bool, **fields: Any
    ) -> PostResult:
        """Post a message; raises Refused, or SyncRefused when the author must read first."""
        body, body_bytes, size = None, 0, len(content)
        if size > self._inline:
            content, body, body_bytes = await self._keep_large(content)
        command = PostMessage(
            by=by,
            message_id=new_id("msg"),
            thread_id=thread_id,
            author=author,
            content=content,
            body=body,
            body_bytes=body_bytes,
            size=size,
            nonce=new_nonce(),
            strict=strict,
            **fields,
        )
        done = await (self._log.do(command) if body is None else self._do(command, body))
        record = done.records[-1]
        event = record.event
        if isinstance(event, PostRefused):
            self._turns.end_turn(thread_id, event.member_id)
            raise SyncRefused(event, find_messages(self.rows, thread_id, after_seq=event.expected_last_seq or 0))
        if done.repeated and (event.thread_id, event.content, event.body) != (thread_id, content, body):
            raise Refused("key_reused.message", "conflict")
        if event.agent:
            self._turns.end_turn(thread_id, event.author_id)
            self.presence.note_activity(event.author_id, "msg_post")
        sync = SyncContext(record.seq, event.next_token) if event.next_token else None
        return PostResult(event, record.seq, record.at, sync)

    async def edit(self, by: Principal, message_id: str, content: str) -> Done:
        """Change a message."""
        body, body_bytes, size = None, 0, len(content)
        if size > self._inline:
            content, body, body_bytes = await self._keep_large(content)
        command = EditMessage(
            by=by, message_id=message_id, content=content, body=body, body_bytes=body_bytes, size=size
        )
        return await (self._log.do(command) if body is None else self._do(command, body))

    async def post_mail(
        self, by: Principal, agent_id: str, content: str, author: str | None = None, **fields: Any
    ) -> PostResult:
        """Post a message into an agent's mailbox."""
        mailbox = await self.open_mailbox(by, agent_id)
        return await self.post(by, mailbox, author, content, strict=False, **fields)

    async def open_mailbox(self, by: Principal, agent_id: str) -> str:
        """The agent's mailbox, made if it has none."""
        mailbox = build_mailbox_id(agent_id)
        if self.rows.get(THREADS, mailbox) is None:
            await self._log.do(OpenMailbox(by=by, thread_id=mailbox, agent_id=agent_id, nonce=new_nonce()))
        return mailbox

    async def issue_sync_context(self, by: Principal, thread_id: str, member_id: str | None) -> SyncContext:
        """A fresh reply token, joining the thread if need be."""
        wanted = member_id or by.agent_id or by.handle
        done = await self._log.do(IssueToken(by=by, thread_id=thread_id, member_id=wanted, nonce=new_nonce()))
        if by.agent_id:
            self.presence.note_activity(by.agent_id, "sync")
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
    ) -> WaitResult:
        """Messages after a seq, as soon as there are any; see the sync rules for when it returns with none.

        Without `after_seq` the member continues where it was, past its own posts: its cursor is durable.
        """
        thread = need_thread(self.rows, by, thread_id)
        agent = self._get_waiting_agent(by, agent_id)
        member = get_member(self.rows, thread_id, agent.id) if agent else None
        seen = self._get_cursor(member) if after_seq is None else after_seq
        if member and after_seq is not None:
            self.deliveries.note(thread_id, member.member_id, seen=min(after_seq, thread.current_seq))
        if agent:
            self._turns.end_turn(thread_id, agent.id)
        wait_ms = max(0, min(timeout_ms, MAX_WAIT_MS))

        wanted = build_message_filter(by, agent, for_agent, own=after_seq is not None)

        def read(after: int, rows: Rows | None = None) -> WaitPage:
            return read_page(rows or self.rows, thread_id, after, limit, wanted)

        with self.waiters.add_waiter(thread_id, agent.id if agent else None, wait_ms, by.credential) as waiter:
            refresh = _must_refresh(agent, member, seen, thread)
            if (for_agent or after_seq is None) and thread.current_seq - seen > _FAR:
                past = await self._log.store.read(lambda view: read(seen, view))
                seen = past.messages[0].seq - 1 if past.messages else past.upto
            page = read(seen)
            if not page.messages and not refresh and thread.status in OPEN_STATES:
                page = await self._wait_for_page(waiter, read, max(seen, page.upto), wait_ms / 1000)
            if agent and (page.messages or refresh) and await self._turns.wait_for_turn(thread_id, agent.id):
                page = read(seen)
        return await self._build_wait_result(by, thread_id, agent, page)

    def _get_waiting_agent(self, by: Principal, agent_id: str | None) -> Agent | None:
        if agent_id or by.agent_id:
            return need_own_agent(self.rows, by, agent_id or by.agent_id)
        return None

    def _get_cursor(self, member: Member | None) -> int:
        if member is None:
            return 0
        return max(member.delivered, self.deliveries.get_delivered(member.thread_id, member.member_id))

    async def _wait_for_page(
        self, waiter: Waiter, read: Callable[[int], WaitPage], seen: int, timeout_s: float
    ) -> WaitPage:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter.fresh
            except TimeoutError:
                return read(seen)
            waiter.fresh = loop.create_future()
            page = read(seen)
            if page.messages or waiter.ended:
                return page
            seen = max(seen, page.upto)

    async def _build_wait_result(
        self, by: Principal, thread_id: str, agent: Agent | None, page: WaitPage
    ) -> WaitResult:
        thread = need_thread(self.rows, by, thread_id)
        if agent is None:
            return WaitResult(page.messages, SyncContext(page.upto, None))
        need_own_agent(self.rows, by, agent.id)  # it may have been removed while it waited
        token = await self.get_reply_token(by, thread, agent.id)
        if page.messages:  # last of all: a crash before they are on their way must not count as their delivery
            self.deliveries.note(thread_id, agent.id, delivered=page.messages[-1].seq)
        return WaitResult(page.messages, SyncContext(page.upto, token))

    async def get_reply_token(self, by: Principal, thread: Thread, member_id: str) -> str | None:
        """The token that a member holds, or a new one; None for callers that cannot post."""
        member = get_member(self.rows, thread.id, member_id)
        if member is not None and member.unused and not member.refresh:
            return get_held_token(member)
        if "chat" not in by.rights or thread.status not in OPEN_STATES:
            return None
        return (await self.issue_sync_context(by, thread.id, member_id)).reply_token

    async def _keep_large(self, content: str) -> tuple[str, str, int]:
        """The beginning of the content, which is kept in the log, and the name and bytes of the file with the whole."""
        if len(content) > self._log.settings.max_content_chars:
            limit = self._log.settings.max_content_chars
            raise Refused("content_too_long", "too_large", limit=limit)
        need_no_secret(content, self._log.settings)  # the rules see only the beginning
        whole = content.encode()
        name = await asyncio.to_thread(self._blobs.keep, whole)
        return content[: self._inline], name, len(whole)

    async def _do(self, command: Command, body: str) -> Done:
        """Carry out a command that names a file; when it came to nothing the file goes again."""
        try:
            done = await self._log.do(command)
        except Exception:
            self._drop_body(body)
            raise
        self._drop_body(body)
        return done

    def _drop_body(self, body: str) -> None:
        self._blobs.release(body)
        if not is_file_in_use(self.rows, body):
            self._blobs.drop(body)

    def read_content(self, message: Message) -> str:
        """The whole content of a message."""
        whole = self._blobs.read(message.body) if message.body else None
        return message.content if whole is None else whole.decode()


def _must_refresh(agent: Agent | None, member: Member | None, seen: int, thread: Thread) -> bool:
    """An agent whose context is void gets a fresh one at once: after a sync error, or behind and without a token."""
    if agent is None:
        return False
    if member is None:
        return seen < thread.current_seq
    return member.refresh or (not member.unused and seen < thread.current_seq)
