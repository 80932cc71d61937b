"""Tools to administer a thread: its settings, who waits in it, and closing it."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.clock import format_iso
from greenroom.doors.mcp.shapes import build_person_fields
from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, need_speaker
from greenroom.doors.mcp.tools.threads import ThreadArgs
from greenroom.errors import Refused
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads.commands import CloseThread, ThreadId, UpdateThreadSettings
from greenroom.rules.threads.model import Thread
from greenroom.rules.threads.queries import need_thread

Seconds = Annotated[int, Meta(ge=30, le=86_400)]


async def thread_settings_get(call: McpCall[ThreadArgs]) -> Any:
    rows = call.hub.rows
    thread = need_thread(rows, call.by, call.args.thread_id)
    admin = get_agent(rows, thread.admin_id) if thread.admin_id else None
    assigned = admin if admin and thread.admin_kind != "creator" else None
    return {
        "thread_id": thread.id,
        **_build_settings(thread),
        "admin_id": thread.admin_id,
        "admin_name": admin and (admin.display_name or admin.name),
        "auto_assigned_admin_id": assigned and assigned.id,
        "auto_assigned_admin_name": assigned and (assigned.display_name or assigned.name),
    }


def _build_settings(thread: Thread) -> dict[str, Any]:
    return {
        "auto_administrator_enabled": thread.settings.auto_administrator_enabled,
        "timeout_seconds": thread.settings.timeout_seconds,
        "switch_timeout_seconds": thread.settings.switch_timeout_seconds,
    }


class SettingsArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    auto_administrator_enabled: Annotated[
        bool | None, Meta(description="Whether the hub asks a person when every agent here only waits.")
    ] = None
    timeout_seconds: Annotated[
        Seconds | None, Meta(description="How long a single agent waits before the person is asked.")
    ] = None
    switch_timeout_seconds: Annotated[Seconds | None, Meta(description="The same when several agents wait.")] = None


async def thread_settings_update(call: McpCall[SettingsArgs]) -> Any:
    args = call.args
    await call.hub.log.do(UpdateThreadSettings(by=call.by, **msgspec.structs.asdict(args)))
    return {"ok": True, **_build_settings(need_thread(call.hub.rows, call.by, args.thread_id))}


async def thread_wait_state_get(call: McpCall[ThreadArgs]) -> Any:
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    waiting = [
        {
            "agent_id": waiter.agent_id,
            "entered_at": format_iso(waiter.entered_at),
            "timeout_ms": waiter.timeout_ms,
            "wait_call_id": waiter.call_id,
        }
        for waiter in call.hub.bus.waiters.find_waiters(thread.id)
        if waiter.agent_id is not None
    ]
    found = {"thread_id": thread.id, "agents_waiting": waiting, "count": len(waiting)}
    return found | build_person_fields(call.hub, thread.id)


class MeetingArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    agent_id: AgentId = None
    token: AgentToken = None
    summary: Annotated[str | None, Meta(description="What came out of it, for whoever reads it later.")] = None


async def close_meeting(call: McpCall[MeetingArgs]) -> Any:
    args, hub = call.args, call.hub
    by, agent = need_speaker(call, "close_meeting", args.agent_id, args.token)
    thread = need_thread(hub.rows, by, args.thread_id)
    if agent.id != thread.admin_id:
        raise Refused("not_admin.meeting", "forbidden")
    released = len(hub.bus.waiters.find_waiters(thread.id))
    await hub.log.do(CloseThread(by=by, thread_id=thread.id, summary=args.summary))
    return {"ok": True, "thread_id": thread.id, "status": "closed", "waits_ended": released}


THREAD_ADMIN_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "thread_settings_get",
        "See when the hub asks a person about a silent thread, and who its admin is.",
        ThreadArgs,
        "read",
        thread_settings_get,
    ),
    Tool(
        "thread_settings_update",
        "Change when the hub asks a person about a silent thread; what you leave out stays. For its admin.",
        SettingsArgs,
        "chat",
        thread_settings_update,
    ),
    Tool(
        "thread_wait_state_get",
        "See which agents wait in a thread just now, before you count on an answer.",
        ThreadArgs,
        "read",
        thread_wait_state_get,
    ),
    Tool(
        "close_meeting",
        "As the admin, end the thread for all: who waits in it is released, then it is closed with your summary.",
        MeetingArgs,
        "chat",
        close_meeting,
    ),
)
