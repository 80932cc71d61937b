"""What can be read at an address: the bus, its agents and threads, and what was said in one."""

from typing import Any

import msgspec

from greenroom.doors.mcp.shapes import AgentShape, agent_shape, is_person, opening, whole
from greenroom.doors.mcp.tool import Call, NoArgs, Resource, ResourceTemplate
from greenroom.doors.mcp.tools.bus import bus_get_config
from greenroom.doors.mcp.tools.threads import brief_of, state_of
from greenroom.log.model import Rows
from greenroom.nouns.threads.queries import find_messages, find_threads, need_thread
from greenroom.nouns.threads.seen_agents import find_agents

_THREADS = 200
_TRANSCRIPT = 1000


class ThreadArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    thread_id: str


async def active_agents(call: Call[NoArgs]) -> Any:
    def read(rows: Rows) -> list[AgentShape]:
        return [agent_shape(call.hub, agent) for agent in find_agents(rows, call.by)]

    return await call.hub.store.read(read)


async def active_threads(call: Call[NoArgs]) -> Any:
    found = await call.hub.store.read(lambda rows: find_threads(rows, call.by, limit=_THREADS))
    return [brief_of(thread) for thread in found]


async def transcript(call: Call[ThreadArgs]) -> str:
    hub = call.hub
    thread = need_thread(hub.rows, call.by, call.args.thread_id)
    latest = find_messages(hub.rows, thread.id, before_seq=2**53, limit=_TRANSCRIPT)
    messages = await whole(hub, latest, to_people=is_person(call.by))
    lines = [f"# Thread: {thread.topic}  [status: {thread.status}]", ""]
    if thread.messages > len(latest):
        lines.append(f"(The {thread.messages - len(latest)} messages before these are left out: see msg_list.)")
    for message in (opening(hub, thread), *messages):
        said = "\n    ".join(message.content.splitlines())  # only the first line of a message begins at the margin
        lines.append(f"[seq={message.seq}] {message.author_name} ({message.role}): {said}")
    return "\n".join(lines)


async def summary(call: Call[ThreadArgs]) -> str:
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    return thread.summary or "(This thread has no summary: it is given when a thread is closed.)"


async def state(call: Call[ThreadArgs]) -> Any:
    thread = need_thread(call.hub.rows, call.by, call.args.thread_id)
    return {**state_of(thread), "latest_seq": thread.current_seq}


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
        ThreadArgs,
        "read",
        transcript,
        "text/plain",
    ),
    ResourceTemplate(
        "chat://threads/{thread_id}/summary",
        "Summary",
        "What came out of a closed thread.",
        ThreadArgs,
        "read",
        summary,
        "text/plain",
    ),
    ResourceTemplate(
        "chat://threads/{thread_id}/state",
        "State",
        "Where a thread stands.",
        ThreadArgs,
        "read",
        state,
    ),
)
