"""Agents that register over REST: register, heartbeat, describe themselves, and leave."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.errors import HttpRefused
from greenroom.doors.http.routes import TOKEN, Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, need_same_request, read_body
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.link.tokens import new_token
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import get_principal
from greenroom.rules.agents.model import (
    Agent,
    AgentRegistered,
    AgentSkill,
    AgentUpdated,
    RegisterAgent,
    ResumeAgent,
    UnregisterAgent,
    UpdateAgent,
)
from greenroom.rules.agents.queries import need_own_agent
from greenroom.rules.threads.visible_agents import need_agent
from greenroom.sentences import Words, build_sentence
from greenroom.services.hub import Hub


class NewAgent(msgspec.Struct, frozen=True):
    """Who registers."""

    ide: str
    model: str
    description: str | None = None
    capabilities: list[str] | None = None
    skills: list[AgentSkill] | None = None
    display_name: str | None = None
    emoji: str | None = None


class RegisteredAgent(msgspec.Struct):
    """An agent and its token, which is shown this once; a repeat of the request does not show it again."""

    agent_id: str
    name: str
    display_name: str
    alias_source: str
    emoji: str
    token: str | None
    capabilities: list[str]
    skills: list[AgentSkill]


class AgentProof(msgspec.Struct, frozen=True):
    """Which agent it is about. The token may be left out where the credential of the call speaks for the agent."""

    agent_id: str
    token: str | None = None


class ResumedAgent(msgspec.Struct):
    agent_id: str
    name: str
    display_name: str
    alias_source: str
    emoji: str
    is_online: bool
    last_heartbeat: str
    ok: bool = True


class AgentChange(msgspec.Struct, frozen=True):
    """What an agent says of itself from now on; what is left out stays."""

    token: str | None = None
    description: str | None = None
    capabilities: list[str] | None = None
    skills: list[AgentSkill] | None = None
    display_name: str | None = None
    emoji: str | None = None


class ChangedAgent(msgspec.Struct):
    agent_id: str
    name: str
    display_name: str
    emoji: str
    description: Words
    capabilities: list[str]
    skills: list[AgentSkill]
    last_activity: str = "update"
    ok: bool = True


async def register_agent(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewAgent)
    token = new_token("agent")
    done = await hub.log.do(
        copy_fields(
            body,
            RegisterAgent,
            by=by,
            key=get_idempotency_key(request),
            agent_id=by.agent_id or new_id("agt"),
            credential_id=token.credential_id,
            digest=token.digest,
            description=body.description or "",
            capabilities=body.capabilities or [],
            skills=body.skills or [],
        )
    )
    event = next(r.event for r in done.records if isinstance(r.event, (AgentRegistered, AgentUpdated)))
    need_same_request(done, (event.ide, event.model) == (body.ide.strip(), body.model.strip()))
    agent = need_agent(hub.rows, by, event.agent_id)
    hub.presence.note_activity(agent.id, "registered")
    shown = request.scope[TOKEN] if by.agent_id is not None else token.text
    return build_json_response(
        copy_fields(
            agent,
            RegisteredAgent,
            agent_id=agent.id,
            display_name=agent.display_name or agent.name,
            alias_source=shapes.choose_alias_source(agent),
            emoji=agent.emoji or shapes.ROBOT,
            token=None if done.repeated and by.agent_id is None else shown,
        )
    )


def resolve_principal(hub: Hub, by: Principal, token: str | None) -> Principal:
    """Who acts when the body of a call brings a token of its own."""
    if token is None:
        return by
    proven = get_principal(hub.rows, token, hub.log.clock.now())
    if proven is None:
        raise _build_unproven()
    return proven


def _need_own_agent(hub: Hub, by: Principal, agent_id: str) -> Agent:
    try:
        return need_own_agent(hub.rows, by, agent_id)
    except Refused:
        raise _build_unproven() from None


def _build_unproven() -> HttpRefused:
    return HttpRefused(401, "agent_unproven", build_sentence("agent_unproven"))


async def record_heartbeat(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, AgentProof)
    agent = _need_own_agent(hub, resolve_principal(hub, by, body.token), body.agent_id)
    hub.presence.note_activity(agent.id, "heartbeat")
    return build_json_response(shapes.Ok())


async def resume_agent(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, AgentProof)
    by = resolve_principal(hub, by, body.token)
    agent = _need_own_agent(hub, by, body.agent_id)
    await hub.log.do(ResumeAgent(by=by, agent_id=agent.id))
    hub.presence.note_activity(agent.id, "resume")
    shown = shapes.build_agent(hub, need_agent(hub.rows, by, agent.id))
    return build_json_response(copy_fields(shown, ResumedAgent, agent_id=shown.id))


async def unregister_agent(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, AgentProof)
    by = resolve_principal(hub, by, body.token)
    agent = _need_own_agent(hub, by, body.agent_id)
    await hub.log.do(UnregisterAgent(by=by, agent_id=agent.id))
    hub.presence.leave(agent.id)
    return build_json_response(shapes.Ok())


async def change_agent(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, AgentChange)
    by = resolve_principal(hub, by, body.token)
    agent_id = request.path_params["agent_id"]
    await hub.log.do(copy_fields(body, UpdateAgent, by=by, agent_id=agent_id))
    if by.agent_id == agent_id:
        hub.presence.note_activity(agent_id, "update")
    agent = need_agent(hub.rows, by, agent_id)
    return build_json_response(
        copy_fields(
            agent,
            ChangedAgent,
            agent_id=agent.id,
            display_name=agent.display_name or agent.name,
            emoji=agent.emoji or shapes.ROBOT,
        )
    )


ENDPOINTS = [
    Endpoint(
        "POST",
        "/api/agents/register",
        "read",
        register_agent,
        "Register an agent, or update the one whose credential you use",
        body=NewAgent,
        answer=RegisteredAgent,
        keyed=True,
    ),
    Endpoint(
        "POST",
        "/api/agents/heartbeat",
        "read",
        record_heartbeat,
        "Report that you are online",
        body=AgentProof,
        answer=shapes.Ok,
    ),
    Endpoint(
        "POST",
        "/api/agents/resume",
        "read",
        resume_agent,
        "Come back after unregistering",
        body=AgentProof,
        answer=ResumedAgent,
    ),
    Endpoint(
        "POST",
        "/api/agents/unregister",
        "read",
        unregister_agent,
        "Unregister an agent",
        body=AgentProof,
        answer=shapes.Ok,
    ),
    Endpoint(
        "PUT",
        "/api/agents/{agent_id}",
        "read",
        change_agent,
        "Change the description of an agent",
        body=AgentChange,
        answer=ChangedAgent,
    ),
]
