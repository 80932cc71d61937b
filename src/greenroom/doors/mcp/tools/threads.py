"""Tools that open, list and close threads."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from greenroom.clock import format_iso
from greenroom.doors.cursors import build_cursor, parse_cursor
from greenroom.doors.mcp.shapes import build_sync_fields
from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, get_speaker
from greenroom.doors.mcp.tools.verbs import build_verb_tools
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.json_types import Metadata
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.threads.commands import (
    ArchiveThread,
    CloseThread,
    CreateThread,
    DeleteThread,
    SetThreadState,
    ThreadId,
)
from greenroom.rules.threads.events import TokenIssued
from greenroom.rules.threads.model import Thread, ThreadStatus
from greenroom.rules.threads.queries import count_threads, find_threads, get_brief, need_thread
from greenroom.rules.threads.verbs import THREAD_VERBS
from greenroom.services.bus import SyncContext

_MOST = 200


class ThreadCreateArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    topic: Annotated[str, Meta(description="What the thread is about, in one line.")]
    agent_id: AgentId = None
    token: AgentToken = None
    metadata: Annotated[Metadata | None, Meta(description="Anything to keep with the thread.")] = None
    system_prompt: Annotated[
        str | None, Meta(description="How to work together in this thread; shown to all who join.")
    ] = None
    template: Annotated[str | None, Meta(description="A template to start from: see template_list.")] = None


async def thread_create(call: McpCall[ThreadCreateArgs]) -> Any:
    args, hub = call.args, call.hub
    by, agent = get_speaker(call, "thread_create", args.agent_id, args.token)
    command = copy_fields(
        args, CreateThread, by=by, thread_id=new_id("thr"), creator_id=agent.id if agent else None, nonce=new_secret(12)
    )
    issued: TokenIssued = (await hub.log.do(command)).first(TokenIssued)
    thread = need_thread(hub.rows, by, issued.thread_id)
    return {
        "thread_id": thread.id,
        "topic": thread.topic,
        "status": thread.status,
        "system_prompt": get_brief(hub.rows, thread.id).system_prompt,
        "template_id": thread.template_id,
        **build_sync_fields(hub, SyncContext(thread.current_seq, issued.token)),
    }


class ThreadListArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    status: Annotated[
        Literal["discuss", "implement", "review", "done", "closed", "archived"] | None,
        Meta(description="Only threads in this state."),
    ] = None
    include_archived: Annotated[bool, Meta(description="Also those that were put away.")] = False
    limit: Annotated[int, Meta(ge=0, description="How many at most; 0 is as many as there are, up to 200.")] = 0
    before: Annotated[str | None, Meta(description="next_cursor of the page before.")] = None


async def thread_list(call: McpCall[ThreadListArgs]) -> Any:
    args = call.args
    limit = min(args.limit or _MOST, _MOST)
    try:
        place = parse_cursor(args.before)
    except ValueError:
        raise Refused("bad_cursor") from None
    which: dict[str, Any] = {"status": args.status, "include_archived": args.include_archived}

    def read(rows: Rows) -> tuple[list[Thread], int]:
        found = find_threads(rows, call.by, **which, before=place, limit=limit + 1)
        return found, count_threads(rows, call.by, **which)

    found, total = await call.hub.store.read(read)
    page = found[:limit]
    has_more = len(found) > limit
    return {
        "threads": [build_thread_brief(thread) for thread in page],
        "total": total,
        "has_more": has_more,
        "next_cursor": build_cursor(page[-1]) if has_more else None,
    }


class ThreadBrief(msgspec.Struct):
    """A thread in a list."""

    thread_id: str
    topic: str
    status: ThreadStatus
    created_at: str


class ThreadDetails(ThreadBrief):
    """All that a thread is, without its messages."""

    closed_at: str | None
    summary: str | None
    current_seq: int
    message_count: int
    template_id: str | None
    admin_id: str | None


class ChangedThread(msgspec.Struct):
    """A thread whose status was changed."""

    ok: bool
    thread_id: str
    status: ThreadStatus


def build_thread_brief(thread: Thread) -> ThreadBrief:
    return ThreadBrief(thread.id, thread.topic, thread.status, format_iso(thread.created_at))


class ThreadArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId


async def thread_get(call: McpCall[ThreadArgs]) -> Any:
    return build_thread_state(need_thread(call.hub.rows, call.by, call.args.thread_id))


def build_thread_state(thread: Thread) -> ThreadDetails:
    return ThreadDetails(
        **msgspec.structs.asdict(build_thread_brief(thread)),
        closed_at=None if thread.closed_at is None else format_iso(thread.closed_at),
        summary=thread.summary,
        current_seq=thread.current_seq,
        message_count=thread.messages,
        template_id=thread.template_id,
        admin_id=thread.admin_id,
    )


class DeleteArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    confirm: Annotated[bool, Meta(description="true: nothing of the thread can be brought back.")]


async def thread_delete(call: McpCall[DeleteArgs]) -> Any:
    if not call.args.confirm:
        raise Refused("confirm_missing")
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    await call.hub.log.do(DeleteThread(by=call.by, thread_id=thread.id))
    return {
        "ok": True,
        "deleted": {"thread_id": thread.id, "topic": thread.topic, "message_count": thread.messages},
    }


def _build_status(call: McpCall[Any], thread_id: str) -> ChangedThread:
    return ChangedThread(True, thread_id, need_thread(call.hub.rows, call.by, thread_id).status)


class StateArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    state: Annotated[
        Literal["discuss", "implement", "review", "done"], Meta(description="Where the thread's work stands now.")
    ]


async def thread_set_state(call: McpCall[StateArgs]) -> Any:
    args = call.args
    await call.hub.log.do(SetThreadState(by=call.by, thread_id=args.thread_id, state=args.state))
    return {"ok": True, "thread_id": args.thread_id, "status": args.state}


_BUILT = build_verb_tools(THREAD_VERBS, dict.fromkeys((CloseThread, ArchiveThread), _build_status))
THREAD_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "thread_create",
        "Open a thread, of which you become the admin; a topic that exists already is joined. Returns the context"
        " for your first msg_post. bus_connect does this and more in one call.",
        ThreadCreateArgs,
        "chat",
        thread_create,
    ),
    Tool("thread_list", "List threads, newest first. Use it to find one to join.", ThreadListArgs, "read", thread_list),
    Tool("thread_get", "Look at one thread: its state, its summary, its newest seq.", ThreadArgs, "read", thread_get),
    Tool(
        "thread_delete",
        "Delete a thread with all its messages, for ever. For its admin; thread_archive only puts it away.",
        DeleteArgs,
        "chat",
        thread_delete,
    ),
    _BUILT["thread_close"],
    _BUILT["thread_archive"],
    Tool(
        "thread_set_state",
        "Say where the thread's work stands. A closed thread is opened again by it, if you are its admin.",
        StateArgs,
        "chat",
        thread_set_state,
    ),
)
