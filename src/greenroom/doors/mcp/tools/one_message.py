"""Tools for one message: find, read, edit and react to it."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.clock import format_iso
from greenroom.doors.mcp.shapes import build_message, is_person, load_full_messages
from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.doors.mcp.tools.snippet import cut_snippet
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, get_author, get_speaker
from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads.commands import React, Unreact
from greenroom.rules.threads.model import THREADS, Message, MessageRevision
from greenroom.rules.threads.queries import build_receipts, find_edits, need_message, search_messages
from greenroom.services.agent_activity import describe_activity

MessageId = Annotated[str, Meta(description="The message's id: msg_id in json results of msg_list and msg_wait.")]


class MessageArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message_id: MessageId


async def msg_get(call: McpCall[MessageArgs]) -> Any:
    found = _get_message(call, call.args.message_id)
    if found is None:
        return {"found": False, "message": None}
    (message,) = await load_full_messages(call.hub, [found], to_people=is_person(call.by))
    return {"found": True, "message": build_message(message)}


def _get_message(call: McpCall[Any], message_id: str) -> Message | None:
    try:
        return need_message(call.hub.rows, call.by, message_id)
    except Refused:
        return None


class SearchArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(max_length=1000, description="Words that the message holds, all of them.")]
    thread_id: Annotated[str | None, Meta(description="Only in this thread.")] = None
    limit: Annotated[int, Meta(ge=1, le=200, description="How many at most.")] = 50


async def msg_search(call: McpCall[SearchArgs]) -> Any:
    args, rows = call.args, call.hub.rows
    if not args.query.strip():
        raise Refused("empty_query")
    hub, by = call.hub, call.by

    def search(view: Rows) -> list[tuple[Message, str]]:
        found = search_messages(view, by, args.query, args.thread_id, args.limit)
        return [(message, cut_snippet(message.content, args.query)) for message in found]

    results = []
    for message, snippet in await hub.store.read(search):
        thread = rows.get(THREADS, message.thread_id)
        results.append(
            {
                "message_id": message.id,
                "thread_id": message.thread_id,
                "thread_topic": thread.topic if thread else "",
                "author": message.author_name,
                "seq": message.seq,
                "created_at": format_iso(message.created_at),
                "snippet": snippet,
            }
        )
    return {"results": results, "total": len(results), "query": args.query}


class EditArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message_id: MessageId
    new_content: Annotated[str, Meta(description="What the message shall say instead.")]
    agent_id: AgentId = None
    token: AgentToken = None


async def msg_edit(call: McpCall[EditArgs]) -> Any:
    args, hub = call.args, call.hub
    by = get_speaker(call, "msg_edit", args.agent_id, args.token).by if args.agent_id or args.token else call.by
    done = await hub.bus.edit(by, args.message_id, args.new_content)
    message = need_message(hub.rows, by, args.message_id)
    if not done.records:
        return {"no_change": True, "version": message.edit_version}
    record = done.records[0]
    return {
        "msg_id": message.id,
        "version": message.edit_version,
        "edited_at": format_iso(record.at),
        "edited_by": record.event.edited_by,
    }


async def msg_edit_history(call: McpCall[MessageArgs]) -> Any:
    found = _get_message(call, call.args.message_id)
    if found is None:
        return {"found": False, "message_id": call.args.message_id}
    to_people = is_person(call.by)
    edits = find_edits(call.hub.rows, found.id)
    was = [_restore_old_content(found, edit) for edit in edits]
    current, *old = await load_full_messages(call.hub, [found, *was], to_people=to_people)
    return {
        "message_id": found.id,
        "current_content": current.content,
        "edit_version": found.edit_version,
        "edits": [
            {
                "version": edit.version,
                "old_content": message.content,
                "edited_by": edit.edited_by,
                "created_at": format_iso(edit.edited_at),
            }
            for edit, message in zip(edits, old, strict=True)
        ],
    }


def _restore_old_content(message: Message, edit: MessageRevision) -> Message:
    return msgspec.structs.replace(message, content=edit.old_content, body=edit.old_body)


class ReactArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message_id: MessageId
    agent_id: AgentId = None
    reaction: Annotated[str, Meta(description="A word or an emoji, such as agree or 👍.")]


async def msg_react(call: McpCall[ReactArgs]) -> Any:
    args, hub = call.args, call.hub
    author = get_author(call, args.agent_id)
    await hub.log.do(copy_fields(args, React, by=call.by, agent_id=author))
    message = need_message(hub.rows, call.by, args.message_id)
    agent_id = call.by.agent_id or author or call.by.handle
    agent = get_agent(hub.rows, agent_id)
    if agent is not None:
        hub.presence.note_activity(agent_id, "msg_react")
    at = next((r.at for r in message.reactions if (r.agent_id, r.reaction) == (agent_id, args.reaction)), None)
    return {
        "reaction_id": f"{message.id}:{agent_id}:{args.reaction}",
        "message_id": message.id,
        "agent_id": agent_id,
        "agent_name": agent.name if agent else None,
        "reaction": args.reaction,
        "created_at": None if at is None else format_iso(at),
    }


async def msg_unreact(call: McpCall[ReactArgs]) -> Any:
    args = call.args
    author = get_author(call, args.agent_id)
    done = await call.hub.log.do(copy_fields(args, Unreact, by=call.by, agent_id=author))
    return {"removed": bool(done.records), "message_id": args.message_id, "reaction": args.reaction}


async def msg_receipts(call: McpCall[MessageArgs]) -> Any:
    message = need_message(call.hub.rows, call.by, call.args.message_id)
    hub, by = call.hub, call.by
    now = hub.log.clock.now()
    reached = [
        {"agent_id": who, "state": state, "now": str(describe_activity(hub.rows, hub.presence, by, who, now))}
        for who, state in build_receipts(hub.rows, message).items()
    ]
    return {"message_id": message.id, "seq": message.seq, "receipts": reached}


ONE_MESSAGE_TOOLS: tuple[Tool[Any], ...] = (
    Tool("msg_get", "Look at one message with all its fields, by its id.", MessageArgs, "read", msg_get),
    Tool(
        "msg_search",
        "Find messages by the words in them, best match first. Read around a hit with msg_list from its seq.",
        SearchArgs,
        "read",
        msg_search,
    ),
    Tool(
        "msg_edit",
        "Change a message that you wrote; what it said before is kept. To add something, post a new one.",
        EditArgs,
        "chat",
        msg_edit,
    ),
    Tool("msg_edit_history", "See what a message said before it was changed.", MessageArgs, "read", msg_edit_history),
    Tool(
        "msg_react",
        "Answer a message by a word or an emoji, when a message of your own would say no more.",
        ReactArgs,
        "chat",
        msg_react,
    ),
    Tool("msg_unreact", "Take a reaction of yours back.", ReactArgs, "chat", msg_unreact),
    Tool(
        "msg_receipts",
        "See who has got a message: queued, delivered, seen, or acted upon; and what each of them does just now.",
        MessageArgs,
        "read",
        msg_receipts,
    ),
)
