"""Agents over REST: list and invite them, stop one, and remove one."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
from greenroom.doors.rest.wire import build_json_response, read_json_response, read_query
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import Agent, KickAgent
from greenroom.rules.agents.profiles import Profile
from greenroom.rules.agents.verbs import AGENT_VERBS
from greenroom.rules.runs.commands import EndAgent
from greenroom.rules.runs.verbs import AGENT_PROCESS_VERBS
from greenroom.rules.threads.visible_agents import find_agents, find_present, need_agent
from greenroom.services.hub import Hub
from greenroom.services.wake_targets import find_wakeable
from greenroom.services.waker import find_invitable


class ListedAgent(shapes.RestAgent):
    """An agent, or a profile from which one can be invited (its id is the profile's name then)."""

    is_invitable: bool = False
    is_available: bool = False
    profile: str | None = None
    process: str = ""
    """Of an agent that Greenroom has started: starting, busy, idle or asleep."""
    kept_as: str | None = None


class AgentQuery(msgspec.Struct, frozen=True, kw_only=True):
    all: bool = False
    """Also agents whose run is over and that nobody keeps or can wake in a thread."""


async def list_agents(hub: Hub, by: Principal, request: Request) -> Response:
    """Agents, then the profiles from which one can be invited: an agent that can be woken is available while away."""
    wants_all = read_query(request, AgentQuery).all

    def read(rows: Rows) -> list[ListedAgent]:
        profiles = {} if by.is_confined else {profile.name: profile for profile in find_invitable(rows)}
        found = find_agents(rows, by) if wants_all else [*find_present(rows, by), *find_wakeable(rows, by)]
        there = [_build_listed_agent(hub, agent, is_invitable=agent.profile in profiles) for agent in found]
        return there + [_build_invitable(profile) for profile in profiles.values()]

    return await read_json_response(hub, read)


def _build_listed_agent(hub: Hub, agent: Agent, *, is_invitable: bool) -> ListedAgent:
    shown = msgspec.structs.asdict(shapes.build_agent(hub, agent))
    available = is_invitable or shown["is_online"]
    return copy_fields(agent, ListedAgent, **shown, is_invitable=is_invitable, is_available=available)


def _build_invitable(profile: Profile) -> ListedAgent:
    definition, changed = profile.definition, format_iso(profile.changed_at)
    return ListedAgent(
        id=profile.name,
        name=profile.name,
        display_name=definition.display_name or profile.name,
        alias_source="auto",
        description=definition.description,
        ide=definition.driver,
        model=definition.model or "default",
        emoji=shapes.ROBOT,
        capabilities=definition.capabilities,
        skills=[],
        is_online=False,
        registered_at=changed,
        last_heartbeat=changed,
        last_activity="profile",
        last_activity_time=changed,
        is_invitable=True,
        is_available=True,
        profile=profile.name,
    )


async def show_agent(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(shapes.build_agent(hub, need_agent(hub.rows, by, request.path_params["agent_id"])))


class Stopped(msgspec.Struct):
    agent_id: str
    name: str
    process: str


def _build_stopped(result: VerbResult) -> Stopped:
    agent = need_agent(result.hub.rows, result.by, result.id)
    return Stopped(agent.id, agent.name, agent.process)


class KickedAgent(msgspec.Struct):
    agent_id: str
    agent_name: str
    threads_interrupted: list[str]
    sessions_disconnected_count: int
    message: str
    ok: bool = True


async def _kick_agent(hub: Hub, command: KickAgent) -> KickedAgent:
    agent_id, waiters = command.agent_id, hub.bus.waiters
    waits = [w for t in waiters.find_thread_ids() for w in waiters.find_waiters(t) if w.agent_id == agent_id]
    await hub.log.do(command)
    hub.presence.leave(agent_id)
    name = need_agent(hub.rows, need_principal(command), agent_id).name
    return KickedAgent(
        agent_id=agent_id,
        agent_name=name,
        threads_interrupted=sorted({w.thread_id for w in waits}),
        sessions_disconnected_count=len(waits),
        message=f"{name} was put out; {len(waits)} of its waits were ended.",
    )


_ONE = "/api/agents/{agent_id}"
ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/agents",
        "read",
        list_agents,
        "Agents that are there, kept, registered or asleep in an open thread, and profiles that you can invite",
        query=AgentQuery,
        answer=list[ListedAgent],
    ),
    Endpoint(
        "GET",
        _ONE,
        "read",
        show_agent,
        "One agent, by its id or the name that it is kept under",
        answer=shapes.RestAgent,
    ),
    *build_verb_endpoints(AGENT_PROCESS_VERBS, {EndAgent: _build_stopped}),
    *build_verb_endpoints(AGENT_VERBS, handlers={KickAgent: _kick_agent}),
]
