"""The rules for posting, in the order that clients rely on."""

from typing import Any, Literal

import msgspec

from greenroom.errors import Refused
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.queries import may_act_for, need_own_agent
from greenroom.rules.threads.commands import PostMessage
from greenroom.rules.threads.events import (
    MemberJoined,
    MessagePosted,
    PostRefused,
)
from greenroom.rules.threads.model import (
    AUTHORS,
    MESSAGES,
    OPEN_STATES,
    PRIORITIES,
    ROLES,
    STOP_REASONS,
    THREADS,
    Author,
    Member,
    Thread,
)
from greenroom.rules.threads.queries import find_members, get_member, may_see_thread, thread_not_found
from greenroom.rules.threads.secret_filter import find_secret
from greenroom.rules.threads.sync_rules import check_sync, format_token
from greenroom.rules.threads.uploads import need_own_uploads
from greenroom.settings import Settings

_MINUTE = 60_000
_MENTIONS = 100
_DEPTH = 32
_MOST_VALUES = 20_000
"""Limit of values in metadata: the hub reads each of them, and answers nobody else meanwhile."""


class PostAuthor(msgspec.Struct, frozen=True):
    """Under whose name something is posted."""

    id: str
    name: str
    agent: bool


def post_message(rows: Rows, command: PostMessage, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    thread = _need_open(rows, by, command.thread_id)
    poster = need_post_author(rows, by, command.author)
    handoff, stop_reason = _need_valid(rows, by, command, poster, thread)
    need_content(command.content, command.size, context)
    need_own_uploads(rows, by, command.content, command.metadata)
    _need_rate(rows, poster.id, context)
    member = get_member(rows, thread.id, poster.id)
    holder = member if poster.agent or not command.strict else _get_token_holder(rows, by, thread, command.reply_token)
    used = next_number = None
    events: list[Event] = []
    nonce = member.nonce if member else command.nonce
    if member is None and poster.agent:
        events.append(MemberJoined(thread_id=thread.id, member_id=poster.id, nonce=nonce))
    if command.strict:
        tolerance = context.settings.seq_tolerance
        checked = check_sync(rows, thread, holder, command.expected_last_seq, command.reply_token, tolerance)
        if checked.error is not None:
            refused = PostRefused(
                thread_id=thread.id,
                member_id=poster.id,
                code=checked.error,
                expected_last_seq=command.expected_last_seq,
                current_seq=thread.current_seq,
            )
            return [*events, refused]
        used = checked.used
    if poster.agent:
        next_number = (member.issued if member else 0) + 1
    events.append(
        MessagePosted(
            message_id=command.message_id,
            thread_id=thread.id,
            author_id=poster.id,
            author_name=poster.name,
            agent=poster.agent,
            role=command.role,
            content=command.content,
            body=command.body,
            body_bytes=command.body_bytes,
            priority=command.priority,
            mentions=command.mentions,
            metadata=command.metadata,
            reply_to=command.reply_to,
            handoff_target=handoff,
            stop_reason=stop_reason,
            used=used,
            token_of=holder.member_id if used and holder and holder.member_id != poster.id else None,
            next=next_number,
            next_token=format_token(nonce, next_number) if next_number else None,
            expected_last_seq=command.expected_last_seq,
            counted=context.settings.posts_per_minute > 0,
        )
    )
    return events


def _get_token_holder(rows: Rows, by: Principal, thread: Thread, token: str | None) -> Member | None:
    """Whose token a person posts with: a person's token serves every name that people post by, and so does the token
    of an agent that the caller speaks for, as a console has that opened the thread."""
    nonce = (token or "").rpartition("-")[0]
    holder = next((m for m in find_members(rows, thread.id) if m.nonce == nonce), None)
    agent = rows.get(AGENTS, holder.member_id) if holder else None
    return holder if agent is None or may_act_for(by, agent) else None


def need_post_author(rows: Rows, by: Principal, author: str | None) -> PostAuthor:
    """The credential determines the author; a named author must agree with it.

    A person is shown by their name, unless a client of AgentChatBus posts as `human`: it looks for that word again.
    """
    if by.agent_id is not None:
        agent = need_own_agent(rows, by, None)
        if author not in (None, "", agent.id, agent.name, agent.display_name):
            raise _author_not_yours(author or "")
        return _build_agent_author(agent)
    named = rows.get(AGENTS, author) if author else None
    if named is not None:
        if not may_act_for(by, named) or named.state == "kicked":
            raise _author_not_yours(named.id)
        return _build_agent_author(named)
    if by.kind == "hub":
        return PostAuthor("system", "system", False)
    if not by.may_operate:
        raise _author_not_yours(author or "")
    name = (author or "").strip() or by.person or by.handle
    taken = any(agent.state == "registered" for agent in rows.find(AGENTS, {"name": name}, limit=5))
    if taken or name.casefold() in ("system", "hub") or len(name) > 64 or not name.isprintable():
        raise Refused("bad_author", name=name[:64])
    return PostAuthor(by.handle if name == by.person else name, name, False)


def _build_agent_author(agent: Agent) -> PostAuthor:
    return PostAuthor(agent.id, agent.display_name or agent.name, True)


def _author_not_yours(author: str) -> Refused:
    return Refused("author_not_yours", "forbidden", author=author[:80])


def _need_open(rows: Rows, by: Principal, thread_id: str) -> Thread:
    thread = rows.get(THREADS, thread_id)
    if thread is None or not (may_see_thread(rows, by, thread) or (thread.mailbox_of and "all" in by.rights)):
        raise thread_not_found(thread_id)
    if thread.status not in OPEN_STATES:
        raise Refused("thread_closed.post", "conflict", status=thread.status)
    return thread


def _need_valid(
    rows: Rows, by: Principal, command: PostMessage, poster: PostAuthor, thread: Thread
) -> tuple[str | None, str | None]:
    if command.priority not in PRIORITIES:
        raise Refused("bad_priority", priorities=PRIORITIES)
    if command.role not in ROLES or (command.role == "system" and poster.agent):
        raise Refused("bad_role")
    handoff = stop_reason = None
    if command.metadata:
        need_shallow(command.metadata)
        handoff, stop_reason = command.metadata.get("handoff_target"), command.metadata.get("stop_reason")
    if stop_reason is not None and stop_reason not in STOP_REASONS:
        raise Refused("bad_stop_reason", reasons=STOP_REASONS)
    if handoff is not None and not (isinstance(handoff, str) and handoff):
        raise Refused("bad_handoff")
    if len(command.mentions) > _MENTIONS:
        raise Refused("too_many_mentions", "too_large", limit=_MENTIONS)
    if command.reply_to is not None:
        answered = rows.get(MESSAGES, command.reply_to)
        if answered is None or answered.thread_id != thread.id:
            raise Refused("bad_reply_to")
    return handoff, stop_reason


def need_shallow(metadata: dict[str, Any]) -> None:
    """Refuse metadata that some reader could not take apart any more."""
    level: list[Any] = [metadata]
    left = _MOST_VALUES
    for _ in range(_DEPTH):
        left -= sum(map(len, level))
        if left < 0:
            raise Refused("metadata_too_large", "too_large", limit=_MOST_VALUES)
        level = [inner for value in level for inner in _find_children(value)]
        if not level:
            return
    raise Refused("metadata_too_deep", limit=_DEPTH)


def _find_children(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in held if isinstance(inner, (dict, list))]


def need_content(content: str, size: int, context: Context) -> None:
    if not content.strip():
        raise Refused("empty_content")
    limit = context.settings.max_content_chars
    if max(len(content), size) > limit:
        raise Refused("content_too_long.attach", "too_large", limit=limit)
    need_no_secret(content, context.settings)


def need_no_secret(
    text: str, settings: Settings, key: Literal["content_blocked", "prompt_blocked"] = "content_blocked"
) -> None:
    """Refuse a text that would keep a secret forever."""
    secret = find_secret(text) if settings.content_filter else None
    if secret is not None:
        raise Refused(key, details={"pattern": secret}, secret=secret)


def _need_rate(rows: Rows, author_id: str, context: Context) -> None:
    limit = context.settings.posts_per_minute
    if limit <= 0:
        return
    author = rows.get(AUTHORS, author_id)
    if author is None:
        return
    posted = count_recent_posts(author, context.now)
    if posted >= limit:
        wait_s = -(-(_MINUTE - context.now % _MINUTE) // 1000)
        raise Refused(
            "rate_limited",
            "limited",
            details={"limit": limit, "window_seconds": 60, "retry_after": wait_s, "scope": "author"},
            author_id=author_id,
            limit=limit,
            wait_s=wait_s,
        )


def count_recent_posts(author: Author, now: int) -> float:
    """Posts within the last minute, the minute before counted by the share of it that is still within."""
    minute = now // _MINUTE
    if author.minute == minute:
        return author.count + author.before * (1 - now % _MINUTE / _MINUTE)
    if author.minute == minute - 1:
        return author.count * (1 - now % _MINUTE / _MINUTE)
    return 0


DECIDE: dict[type[Command], Decide] = {
    PostMessage: post_message,
}
