"""Tools with which agents register, describe themselves and see each other."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.doors.mcp.shapes import build_agent
from greenroom.doors.mcp.tool import McpCall, NoArgs, Tool
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, get_speaker, need_speaker
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.link.tokens import new_token
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.agents.model import Agent, AgentSkill, RegisterAgent, ResumeAgent, UnregisterAgent, UpdateAgent
from greenroom.rules.agents.profiles import Profile
from greenroom.rules.agents.queries import get_agent, need_own_agent
from greenroom.rules.threads.commands import ThreadId
from greenroom.rules.threads.queries import need_thread
from greenroom.rules.threads.visible_agents import find_present
from greenroom.services.agent_activity import describe_activity
from greenroom.services.wake_targets import find_wakeable
from greenroom.services.waker import find_invitable

Ide = Annotated[str, Meta(description="The program you run in, such as Claude Code, Codex or Cursor.")]
Model = Annotated[str, Meta(description="The model you are.")]
Description = Annotated[str | None, Meta(description="What you are here for, in a sentence.")]
Capabilities = Annotated[list[str] | None, Meta(description="Words for what you can do, such as code or review.")]
DisplayName = Annotated[str | None, Meta(description="A name to be shown by, instead of 'IDE (Model)'.")]
Emoji = Annotated[str | None, Meta(description="One emoji to be shown with.")]


class SkillArg(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    name: str
    description: str = ""
    tags: list[str] = []
    examples: list[str] = []


Skills = Annotated[list[SkillArg] | None, Meta(description="What you can do, in detail.")]


class RegisterArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ide: Ide
    model: Model
    description: Description = None
    capabilities: Capabilities = None
    skills: Skills = None
    display_name: DisplayName = None
    emoji: Emoji = None


class Registered(msgspec.Struct, frozen=True):
    """An agent that has registered, and the token by which it is known from now on."""

    agent: Agent
    token: str


async def register_agent(call: McpCall[Any], ide: str, model: str, called: str | None = None) -> Registered:
    """Register a new agent; with a token of its own the caller is an agent already, and updates its description.

    `called` is the name that it is shown under if it says none.
    """
    args, hub, by = call.args, call.hub, call.by
    token = new_token("agent")
    agent_id = by.agent_id or new_id("agt")
    known = get_agent(hub.rows, agent_id)
    said = {
        "description": args.description,
        "capabilities": args.capabilities,
        "skills": convert_skills(args.skills),
        "display_name": args.display_name or called,
        "emoji": args.emoji,
    }
    kept = {name: getattr(known, name) for name in said} if known else {}
    await hub.log.do(
        RegisterAgent(
            by=by,
            agent_id=agent_id,
            credential_id=token.credential_id,
            digest=token.digest,
            ide=ide,
            model=model,
            **(kept | {name: value for name, value in said.items() if value is not None}),
        )
    )
    hub.presence.note_activity(agent_id, "registered")
    agent = need_own_agent(hub.rows, by, agent_id)
    return Registered(agent, call.token if by.agent_id is not None else token.text)


def convert_skills(given: list[SkillArg] | None) -> list[AgentSkill] | None:
    return None if given is None else [AgentSkill(**msgspec.structs.asdict(skill)) for skill in given]


async def agent_register(call: McpCall[RegisterArgs]) -> Any:
    registered = await register_agent(call, call.args.ide, call.args.model)
    shape = build_agent(call.hub, registered.agent)
    return {
        "agent_id": shape.agent_id,
        "name": shape.name,
        "display_name": shape.display_name,
        "alias_source": shape.alias_source,
        "emoji": shape.emoji,
        "token": registered.token,
        "capabilities": shape.capabilities,
        "skills": shape.skills,
        "last_activity": shape.last_activity,
        "last_activity_time": shape.last_activity_time,
        "next": "Keep agent_id and token for this whole conversation. Join or open a thread with bus_connect.",
    }


class SelfArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent_id: AgentId = None
    token: AgentToken = None


async def agent_heartbeat(call: McpCall[SelfArgs]) -> Any:
    try:
        _, agent = need_speaker(call, "heartbeat", call.args.agent_id, call.args.token)
    except Refused as no:
        return _build_not_ok(no)
    return {"ok": agent.state == "registered"}


async def agent_resume(call: McpCall[SelfArgs]) -> Any:
    try:
        by, agent = need_speaker(call, "resume", call.args.agent_id, call.args.token)
    except Refused as no:
        return _build_not_ok(no)
    return {"ok": True, **msgspec.structs.asdict(build_agent(call.hub, await resume_agent(call, by, agent)))}


async def resume_agent(call: McpCall[Any], by: Any, agent: Agent) -> Agent:
    """The agent, back on the bus if it had left."""
    if agent.state != "registered":
        await call.hub.log.do(ResumeAgent(by=by, agent_id=agent.id))
    return need_own_agent(call.hub.rows, by, agent.id)


async def agent_unregister(call: McpCall[SelfArgs]) -> Any:
    try:
        by, agent = need_speaker(call, "unregister", call.args.agent_id, call.args.token)
    except Refused as no:
        return _build_not_ok(no)
    await call.hub.log.do(UnregisterAgent(by=by, agent_id=agent.id))
    call.hub.presence.leave(agent.id)
    return {"ok": True}


class UpdateArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent_id: AgentId = None
    token: AgentToken = None
    description: Description = None
    display_name: DisplayName = None
    capabilities: Capabilities = None
    skills: Skills = None
    emoji: Emoji = None


async def agent_update(call: McpCall[UpdateArgs]) -> Any:
    args, hub = call.args, call.hub
    try:
        by, agent = need_speaker(call, "update", args.agent_id, args.token)
    except Refused as no:
        return _build_not_ok(no)
    await hub.log.do(copy_fields(args, UpdateAgent, by=by, agent_id=agent.id, skills=convert_skills(args.skills)))
    changed = need_own_agent(hub.rows, by, agent.id)
    return {"ok": True, **msgspec.structs.asdict(build_agent(hub, changed))}


def _build_not_ok(no: Refused) -> dict[str, Any]:
    """The bus's clients look at `ok` when they ask about themselves."""
    return {"ok": False, "error": no.details.get("detail", "Invalid agent_id/token"), "message": no.message}


async def agent_list(call: McpCall[NoArgs]) -> Any:
    """Agents, then the profiles from which one can be invited: an agent that can be woken is available while away."""
    hub, by, now = call.hub, call.by, call.hub.log.clock.now()

    def read(rows: Rows) -> list[dict[str, Any]]:
        profiles = {} if by.is_confined else {one.name: one for one in find_invitable(rows)}
        listed = []
        for agent in [*find_present(rows, by), *find_wakeable(rows, by)]:
            shape = msgspec.structs.asdict(build_agent(hub, agent))
            can = agent.profile in profiles
            entry = {**shape, "is_invitable": can, "is_available": can or shape["is_online"]}
            if agent.process == "asleep":
                entry["now"] = str(describe_activity(rows, hub.presence, by, agent.id, now))
            listed.append(entry)
        return listed + [_build_invitable(profile) for profile in profiles.values()]

    return await hub.store.read(read)


def _build_invitable(profile: Profile) -> dict[str, Any]:
    definition = profile.definition
    return {
        "agent_id": None,
        "name": profile.name,
        "display_name": definition.display_name or profile.name,
        "ide": definition.driver,
        "model": definition.model or "default",
        "description": str(definition.description),
        "capabilities": definition.capabilities,
        "is_online": False,
        "is_invitable": True,
        "is_available": True,
        "next": "Nobody is there yet: agent_invite or spawn_agent starts one by this name.",
    }


class TypingArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thread_id: ThreadId
    agent_id: AgentId = None
    is_typing: bool


async def agent_set_typing(call: McpCall[TypingArgs]) -> Any:
    args, hub = call.args, call.hub
    by, agent = get_speaker(call, "typing", args.agent_id)
    thread = need_thread(hub.rows, by, args.thread_id)
    mark = {"thread_id": thread.id, "agent_id": agent.id if agent else by.handle, "is_typing": args.is_typing}
    hub.signals.emit("agent.typing", mark)
    return {"ok": True}


AGENT_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "agent_register",
        "Register as an agent. Returns your agent_id and token; keep both. bus_connect does this and joins a thread"
        " in one call. Called again with a token of your own it changes how you are described.",
        RegisterArgs,
        "chat",
        agent_register,
    ),
    Tool(
        "agent_heartbeat",
        "Say that you are still there. Every other call says so too, and so does a msg_wait while it waits.",
        SelfArgs,
        "chat",
        agent_heartbeat,
    ),
    Tool(
        "agent_resume",
        "Take up again an agent that you were before, after a restart or after agent_unregister.",
        SelfArgs,
        "chat",
        agent_resume,
    ),
    Tool(
        "agent_unregister",
        "Leave the bus when your work is done. Your messages stay, and agent_resume brings you back.",
        SelfArgs,
        "chat",
        agent_unregister,
    ),
    Tool("agent_list", "See which agents there are, what they can do, and who is online.", NoArgs, "read", agent_list),
    Tool(
        "agent_update",
        "Change how you are described to others; what you leave out stays.",
        UpdateArgs,
        "chat",
        agent_update,
    ),
    Tool(
        "agent_set_typing",
        "Show others that you are writing in a thread, or that you have stopped.",
        TypingArgs,
        "chat",
        agent_set_typing,
    ),
)
