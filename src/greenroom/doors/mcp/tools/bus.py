"""Tools for the bus as a whole: connect to it, and read its configuration."""

import contextlib
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom import __version__
from greenroom.clock import format_iso
from greenroom.doors.http.server import build_local_url
from greenroom.doors.mcp.shapes import build_opening_message, build_person_fields, build_sync_fields, load_full_messages
from greenroom.doors.mcp.tool import McpCall, NoArgs, Tool
from greenroom.doors.mcp.tools.agents import (
    Capabilities,
    Description,
    DisplayName,
    Emoji,
    Ide,
    Model,
    Registered,
    Skills,
    register_agent,
    resume_agent,
)
from greenroom.doors.mcp.tools.messages import Seq
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, need_speaker
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.log.model import Done
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import Agent
from greenroom.rules.agents.names import need_name
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads.commands import CreateThread, IssueToken
from greenroom.rules.threads.events import ThreadCreated, TokenIssued
from greenroom.rules.threads.model import Message, Thread
from greenroom.rules.threads.queries import PAGE, find_messages, get_brief, may_have_more, need_thread
from greenroom.services.bus import SyncContext

_LANGUAGE_CHARS = 64


class ConnectArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_name: Annotated[str | None, Meta(description="The topic of the thread to join; opened if it is new.")] = None
    thread_id: Annotated[str | None, Meta(description="The id of the thread to join, instead of its topic.")] = None
    ide: Ide | None = None
    model: Model | None = None
    after_seq: Annotated[
        Seq, Meta(description="The newest seq that you have read; 0 brings the latest messages of the thread.")
    ] = 0
    agent_id: AgentId = None
    token: AgentToken = None
    description: Description = None
    capabilities: Capabilities = None
    display_name: DisplayName = None
    emoji: Emoji = None
    skills: Skills = None
    system_prompt: Annotated[str | None, Meta(description="How to work together, if the thread is new.")] = None
    template: Annotated[str | None, Meta(description="A template to start from, if the thread is new.")] = None


async def bus_connect(call: McpCall[ConnectArgs]) -> Any:
    args, hub = call.args, call.hub
    if not args.thread_name and not args.thread_id:
        raise Refused("thread_required")
    by, registered = await _resolve_identity(call)
    agent = registered.agent
    done = await _join(call, by, agent)
    issued: TokenIssued = done.first(TokenIssued)
    created = any(isinstance(record.event, ThreadCreated) for record in done.records)
    thread = need_thread(hub.rows, by, issued.thread_id)
    messages, upto, hint = _read_history(call, thread)
    if messages:
        hub.bus.deliveries.note(thread.id, agent.id, delivered=messages[-1].seq)
    shown = [build_opening_message(hub, thread), *await load_full_messages(hub, messages, to_people=False)]
    return {
        "agent": _build_agent_part(thread, registered),
        "thread": _build_thread_part(call, thread, created),
        **build_sync_fields(hub, SyncContext(upto, issued.token)),
        **build_person_fields(hub, thread.id),
        "has_more": hint is not None,
        "next": hint or "Read the messages, then msg_post with this context, or msg_wait.",
        "messages": [
            {
                "seq": message.seq,
                "author": message.author_name,
                "role": message.role,
                "content": message.content,
                "created_at": format_iso(message.created_at),
            }
            for message in shown
        ],
    }


async def _resolve_identity(call: McpCall[ConnectArgs]) -> tuple[Principal, Registered]:
    """Who connects: an agent that is known already is resumed, anybody else is registered."""
    args, by = call.args, call.by
    known = get_agent(call.hub.rows, by.agent_id) if by.agent_id else None
    if args.agent_id or args.token or (known and not _has_new_description(args, known)):
        by, agent = need_speaker(call, "bus_connect", args.agent_id, args.token)
        return by, Registered(await resume_agent(call, by, agent), args.token or (call.token if by.agent_id else ""))
    ide, model = (known.ide, known.model) if known else ("Unknown IDE", "Unknown Model")
    called = None if known or args.ide or args.model else _get_token_name(by)
    return by, await register_agent(call, args.ide or ide, args.model or model, called)


def _get_token_name(by: Principal) -> str | None:
    """What the operator called the credential of this one agent, if an agent may be called so."""
    with contextlib.suppress(Refused):
        return need_name(by.name, "name") if by.agent_id else None
    return None


def _has_new_description(args: ConnectArgs, known: Agent) -> bool:
    """Whether the agent says something of itself that was not known."""
    if args.ide not in (None, known.ide) or args.model not in (None, known.model):
        return True
    said = (args.description, args.capabilities, args.skills, args.display_name, args.emoji)
    return any(value is not None for value in said)


async def _join(call: McpCall[ConnectArgs], by: Principal, agent: Agent) -> Done:
    args, log = call.args, call.hub.log
    nonce = new_secret(12)
    if args.thread_id:
        return await log.do(IssueToken(by=by, thread_id=args.thread_id, member_id=agent.id, nonce=nonce))
    return await log.do(
        CreateThread(
            by=by,
            thread_id=new_id("thr"),
            topic=args.thread_name or "",
            creator_id=agent.id,
            nonce=nonce,
            system_prompt=args.system_prompt,
            template=args.template,
        )
    )


def _read_history(call: McpCall[ConnectArgs], thread: Thread) -> tuple[list[Message], int, str | None]:
    """The first messages, the seq up to which they go, and what to do about those that are left out.

    A new member gets the latest. A member that continues from a seq gets what follows it, without gaps.
    """
    rows, after_seq = call.hub.rows, call.args.after_seq
    if after_seq == 0:
        latest = find_messages(rows, thread.id, before_seq=2**53, limit=PAGE)
        upto = max(thread.current_seq, latest[-1].seq if latest else 0)
        older = thread.messages > len(latest)
        return latest, upto, "Older messages are left out: read them with msg_list." if older else None
    following = find_messages(rows, thread.id, after_seq=after_seq, limit=PAGE)
    if may_have_more(following, PAGE) and following[-1].seq < thread.current_seq:
        upto = following[-1].seq
        return following, upto, f"There is more to read: call msg_wait with after_seq={upto} before you post."
    return following, max(thread.current_seq, following[-1].seq if following else 0), None


def _build_agent_part(thread: Thread, registered: Registered) -> dict[str, Any]:
    agent = registered.agent
    is_admin = thread.admin_id == agent.id
    return {
        "agent_id": agent.id,
        "name": agent.name,
        "registered": True,
        "token": registered.token,
        "is_administrator": is_admin,
        "role_assignment": "You are the admin of this thread: say who does what, and close it when it is done."
        if is_admin
        else "You take part in this thread: the admin says who does what, and you report to all.",
    }


def _build_thread_part(call: McpCall[ConnectArgs], thread: Thread, created: bool) -> dict[str, Any]:
    part: dict[str, Any] = {
        "thread_id": thread.id,
        "topic": thread.topic,
        "status": thread.status,
        "created": created,
    }
    prompt = get_brief(call.hub.rows, thread.id).system_prompt
    if prompt is not None:
        part["system_prompt"] = prompt
    if thread.admin_id is not None:
        admin = get_agent(call.hub.rows, thread.admin_id)
        name = (admin.display_name or admin.name) if admin else thread.admin_id
        part["administrator"] = {"agent_id": thread.admin_id, "name": name}
    return part


async def bus_get_config(call: McpCall[NoArgs]) -> Any:
    """How the bus is set up; the language is what the client's address asked for by `?lang=`."""
    asked = "".join(c for c in call.language or "" if c.isprintable())[:_LANGUAGE_CHARS].strip()
    language = asked or "English"
    return {
        "preferred_language": language,
        "language_source": "url" if asked else "default",
        "language_note": f"Write in {language} where you can.",
        "bus_name": call.hub.settings.bus_name,
        "version": __version__,
        "endpoint": build_local_url(call.hub.settings, call.hub.settings.port),
    }


BUS_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "bus_connect",
        "Start here: registers you (or takes you up again), joins the thread of this name or opens it, and returns its"
        " latest messages with the context for your first msg_post. Then work in a loop: msg_wait, read, msg_post.",
        ConnectArgs,
        "chat",
        bus_connect,
    ),
    Tool("bus_get_config", "See the bus's name, version and preferred language.", NoArgs, "read", bus_get_config),
)
