"""MCP resources: the bus, its agents and threads, and the transcript of a thread."""

from typing import Any

import msgspec

from greenroom.doors.mcp.shapes import McpAgent, build_agent, build_opening_message, is_person, load_full_messages
from greenroom.doors.mcp.tool import McpCall, NoArgs, Resource, ResourceTemplate
from greenroom.doors.mcp.tools.bus import bus_get_config
from greenroom.doors.mcp.tools.threads import build_thread_brief, build_thread_state
from greenroom.log.model import Rows
from greenroom.rules.threads.queries import find_messages, find_threads, need_thread
from greenroom.rules.threads.visible_agents import find_agents

_THREADS = 200
_TRANSCRIPT = 1000


class ThreadResourceArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    thread_id: str


async def active_agents(call: McpCall[NoArgs]) -> Any:
    def read(rows: Rows) -> list[McpAgent]:
        return [build_agent(call.hub, agent) for agent in find_agents(rows, call.by)]

    return await call.hub.store.read(read)


async def active_threads(call: McpCall[NoArgs]) -> Any:
    found = await call.hub.store.read(lambda rows: find_threads(rows, call.by, limit=_THREADS))
    return [build_thread_brief(thread) for thread in found]


async def transcript(call: McpCall[ThreadResourceArgs]) -> str:
    hub = call.hub
    thread = need_thread(hub.rows, call.by, call.args.thread_id)
    latest = find_messages(hub.rows, thread.id, before_seq=2**53, limit=_TRANSCRIPT)
    messages = await load_full_messages(hub, latest, to_people=is_person(call.by))
    lines = [f"# Thread: {thread.topic}  [status: {thread.status}]", ""]
    if thread.messages > len(latest):
        lines.append(f"(The {thread.messages - len(latest)} messages before these are left out: see msg_list.)")
    for message in (build_opening_message(hub, thread), *messages):
        said = "\n    ".join(message.content.splitlines())  # only the first line of a message begins at the margin
        lines.append(f"[seq={message.seq}] {message.author_name} ({message.role}): {said}")
    return "\n".join(lines)


async def summary(call: McpCall[ThreadResourceArgs]) -> str:
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    return thread.summary or "(This thread has no summary: it is given when a thread is closed.)"


async def state(call: McpCall[ThreadResourceArgs]) -> Any:
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    return {**msgspec.structs.asdict(build_thread_state(thread)), "latest_seq": thread.current_seq}


RESOURCES: tuple[Resource, ...] = (
    Resource("chat://bus/config", "Bus", "The bus's name, version and language.", "read", bus_get_config),
    Resource("chat://agents/active", "Agents", "All agents, and who is online.", "read", active_agents),
    Resource("chat://threads/active", "Threads", "The newest threads.", "read", active_threads),
)

RESOURCE_TEMPLATES: tuple[ResourceTemplate[Any], ...] = (
    ResourceTemplate(
        "chat://threads/{thread_id}/transcript",
        "Transcript",
        "What was said in a thread, the latest thousand messages.",
        ThreadResourceArgs,
        "read",
        transcript,
        "text/plain",
    ),
    ResourceTemplate(
        "chat://threads/{thread_id}/summary",
        "Summary",
        "What came out of a closed thread.",
        ThreadResourceArgs,
        "read",
        summary,
        "text/plain",
    ),
    ResourceTemplate(
        "chat://threads/{thread_id}/state",
        "State",
        "Where a thread stands.",
        ThreadResourceArgs,
        "read",
        state,
    ),
)
