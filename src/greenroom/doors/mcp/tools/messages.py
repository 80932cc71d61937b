"""Tools that post, read and wait for messages: the heart of the bus."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from greenroom.doors.mcp.shapes import (
    build_blocks,
    build_message,
    build_opening_message,
    build_sync_fields,
    build_wait_fields,
    is_person,
    load_full_messages,
)
from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, get_author, get_speaker, need_valid_token
from greenroom.log.model import Rows
from greenroom.rules.threads.commands import ThreadId
from greenroom.rules.threads.model import Message, MessageRole
from greenroom.rules.threads.queries import PAGE, find_messages, may_have_more, need_thread
from greenroom.rules.threads.sync_rules import MISMATCH
from greenroom.services.bus import MAX_WAIT_MS, SyncRefused, WaitResult
from greenroom.services.wake_targets import look_for_unreached

_HURRY_MS = 5_000
_PATIENT_MS = 60_000
_DETAILS = {
    "MissingSyncFields": "MISSING_SYNC_FIELDS",
    "ReplyTokenInvalid": "TOKEN_INVALID",
    "ReplyTokenReplay": "TOKEN_REPLAY",
}

Priority = Literal["normal", "urgent", "system"]
Format = Annotated[
    Literal["json", "blocks"],
    Meta(description="blocks: text and images to read at once. json: one text with all fields, such as msg_id."),
]
Attachments = Annotated[bool, Meta(description="false leaves images out.")]
Seq = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Key = Annotated[str, Meta(min_length=1, max_length=200)]
Patience = Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, description="How long to wait at most.")]


class PostArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    author: Annotated[
        str | None, Meta(description="Your agent_id. Not needed when you connect with a token of your own.")
    ] = None
    content: Annotated[str, Meta(description="What you say, in Markdown.")]
    expected_last_seq: Annotated[
        Seq | None, Meta(description="Required: current_seq of the context that you answer to.")
    ] = None
    reply_token: Annotated[
        str | None,
        Meta(description="Required: reply_token of that context, from msg_wait, bus_connect or your last msg_post."),
    ] = None
    role: MessageRole = "user"
    priority: Annotated[Priority, Meta(description="urgent for what cannot wait.")] = "normal"
    mentions: Annotated[
        list[str],
        Meta(
            description="Agents that should look at it, by id, name, display name or profile; @name in content does the"
            " same. The answer lists in unreached whom it does not reach, and why."
        ),
    ] = []
    metadata: Annotated[
        dict[str, Any] | None,
        Meta(
            description="handoff_target: id of the agent that goes on. stop_reason: convergence, timeout, error,"
            " complete or impasse, when you end your turn for good. attachments: images as {data, mimeType}."
        ),
    ] = None
    reply_to_msg_id: Annotated[str | None, Meta(description="The message of this thread that you answer.")] = None
    key: Annotated[
        Key | None,
        Meta(description="A name of your own for this message: repeating the call with it posts nothing twice."),
    ] = None


async def msg_post(call: McpCall[PostArgs]) -> Any:
    args, hub = call.args, call.hub
    try:
        event, seq, _, sync = await hub.bus.post(
            call.by,
            args.thread_id,
            get_author(call, args.author),
            args.content,
            strict=True,
            role=args.role,
            priority=args.priority,
            mentions=args.mentions,
            metadata=args.metadata,
            reply_to=args.reply_to_msg_id,
            expected_last_seq=args.expected_last_seq,
            reply_token=args.reply_token,
            key=args.key,
        )
    except SyncRefused as no:
        return await _build_sync_refusal(call, no)
    said: dict[str, Any] = {
        "msg_id": event.message_id,
        "seq": seq,
        "reply_to_msg_id": event.reply_to,
        "priority": event.priority,
    }
    if event.handoff_target is not None:
        said["handoff_target"] = event.handoff_target
    if event.stop_reason is not None:
        said["stop_reason"] = event.stop_reason
    if unreached := await look_for_unreached(hub.log, hub.presence, call.by, event):
        said["unreached"] = [{"name": one.name, "why": str(one.why)} for one in unreached]
    return said if sync is None else said | build_sync_fields(hub, sync)


async def _build_sync_refusal(call: McpCall[PostArgs], no: SyncRefused) -> Any:
    """What the author must read before it posts again; its tokens in this thread are void now."""
    event = no.event
    unread = [] if event.expected_last_seq is None else no.new_messages
    unread = await load_full_messages(call.hub, unread, to_people=is_person(call.by))
    said: dict[str, Any] = {"error": f"{event.code}Error"}
    if event.code == MISMATCH:
        seqs = {"expected_last_seq": event.expected_last_seq, "current_seq": event.current_seq}
        said["detail"] = "SEQ_MISMATCH: " + ", ".join(f"{name}={seq}" for name, seq in seqs.items())
        said |= seqs
        said["CRITICAL_REMINDER"] = (
            "Nothing was posted: others wrote while you did. Read new_messages_1st_read, then call msg_wait for a"
            " fresh reply_token, and write a new message that takes them into account."
        )
    else:
        said["detail"] = _DETAILS[event.code]
        said["REMINDER"] = "Nothing was posted. Call msg_wait for a fresh reply_token, and post with that."
    said["new_messages_1st_read"] = [build_message(message) for message in unread]
    said["action"] = "READ_MESSAGES_THEN_CALL_MSG_WAIT" if event.code == MISMATCH else "CALL_MSG_WAIT"
    return said


class MessageListArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    after_seq: Annotated[Seq, Meta(description="Only messages after this seq.")] = 0
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most.")] = PAGE
    priority: Annotated[Priority | None, Meta(description="Only messages of this priority.")] = None
    return_format: Format = "blocks"
    include_system_prompt: Annotated[
        bool, Meta(description="Begin with the thread's system prompt, as a message with seq 0.")
    ] = True
    include_attachments: Attachments = True


async def msg_list(call: McpCall[MessageListArgs]) -> Any:
    args, hub = call.args, call.hub
    thread = need_thread(hub.rows, call.by, args.thread_id)
    if args.priority is None:
        listed = find_messages(hub.rows, thread.id, after_seq=args.after_seq, limit=args.limit)
    else:  # matches may be rare
        listed = await hub.store.read(lambda view: _find_by_priority(view, args))
    found = await load_full_messages(hub, listed, to_people=is_person(call.by))
    if args.include_system_prompt and args.after_seq == 0:
        found = [build_opening_message(hub, thread), *found]
    if args.return_format == "blocks":
        return await build_blocks(hub, call.by, found, attachments=args.include_attachments)
    return [build_message(message, attachments=args.include_attachments) for message in found]


def _find_by_priority(rows: Rows, args: MessageListArgs) -> list[Message]:
    out: list[Message] = []
    after_seq = args.after_seq
    while True:
        page = find_messages(rows, args.thread_id, after_seq=after_seq, limit=PAGE)
        out += [message for message in page if message.priority == args.priority]
        if not may_have_more(page, PAGE) or may_have_more(out, args.limit):
            return out[: args.limit]
        after_seq = page[-1].seq


class MessageWaitArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    after_seq: Annotated[
        Seq | None,
        Meta(description="The newest seq that you have read. Leave it out to go on after what you were last given."),
    ] = None
    timeout_ms: Patience = 300_000
    return_format: Format = "blocks"
    agent_id: AgentId = None
    token: AgentToken = None
    for_agent: Annotated[
        str | None, Meta(description="Only messages that are handed over to this agent (metadata.handoff_target).")
    ] = None
    include_attachments: Attachments = True


async def msg_wait(call: McpCall[MessageWaitArgs]) -> Any:
    args = call.args
    by, agent = get_speaker(call, "msg_wait", args.agent_id, args.token)
    waited = await call.hub.bus.wait(
        by,
        args.thread_id,
        args.after_seq,
        limit_wait_ms(args.timeout_ms),
        agent_id=agent.id if agent else None,
        for_agent=args.for_agent,
    )
    need_valid_token(call, args.agent_id, args.token)
    if agent is None and by.may_operate:  # a person needs a token here too, because msg_post asks everybody for one
        thread = need_thread(call.hub.rows, by, args.thread_id)
        token = await call.hub.bus.get_reply_token(by, thread, by.handle)
        waited = waited._replace(sync=waited.sync._replace(reply_token=token))
    people = agent is None and is_person(by)
    return await build_wait_result(call, args.thread_id, waited, args.return_format, args.include_attachments, people)


def limit_wait_ms(timeout_ms: int) -> int:
    """How long to wait. Several clients give up at the same number that they ask for, so a long wait ends before."""
    return timeout_ms - _HURRY_MS if timeout_ms >= _PATIENT_MS else timeout_ms


async def build_wait_result(
    call: McpCall[Any], thread_id: str, waited: WaitResult, return_format: str, attachments: bool, people: bool
) -> Any:
    """What a wait brought, in the format that was asked for."""
    context = build_wait_fields(call.hub, thread_id, waited.sync)
    messages = await load_full_messages(call.hub, waited.messages, to_people=people)
    if return_format == "blocks":
        first = {"type": "sync_context", **context}
        return await build_blocks(call.hub, call.by, messages, attachments=attachments, first=first)
    shown = [build_message(message, attachments=attachments) for message in messages]
    return {**context, "messages": shown}  # the context first: clients cut long results at the end


MESSAGE_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "msg_post",
        "Say something in a thread. Needs the context (expected_last_seq, reply_token) that msg_wait, bus_connect or"
        " your last msg_post gave you, and returns the next one. If others wrote meanwhile nothing is posted: read"
        " what you are given, call msg_wait, then answer anew. After posting, call msg_wait for the answers.",
        PostArgs,
        "chat",
        msg_post,
    ),
    Tool(
        "msg_wait",
        "Wait for new messages in a thread; at once if there are any after after_seq. Always returns the context for"
        " your next msg_post. When it returns no messages, call it again: do not post only to say that you wait.",
        MessageWaitArgs,
        "read",
        msg_wait,
        waits=True,
    ),
    Tool(
        "msg_list",
        "Read a thread without waiting, oldest first: to catch up, or to look something up. It gives no context to"
        " post with; msg_wait does.",
        MessageListArgs,
        "read",
        msg_list,
    ),
)
