"""The rules of agents."""

from collections.abc import Sized

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import RIGHTS, CredentialCreated, CredentialRevoked
from greenroom.rules.access.queries import find_unrevoked, need_right
from greenroom.rules.agents.model import (
    AGENTS,
    Agent,
    AgentKicked,
    AgentRegistered,
    AgentResumed,
    AgentSkill,
    AgentUnregistered,
    AgentUpdated,
    KickAgent,
    RegisterAgent,
    ResumeAgent,
    UnregisterAgent,
    UpdateAgent,
)
from greenroom.rules.agents.names import compute_skeleton, need_name
from greenroom.rules.agents.person_names import NamePerson, find_person_looks, name_person
from greenroom.rules.agents.queries import agent_not_found, need_own_agent

_TEXT = 4_000
_ITEMS = 50


def register_agent(rows: Rows, command: RegisterAgent, context: Context) -> list[Event]:
    by = need_principal(command)
    ide = need_name(command.ide, "ide")
    model = "human" if command.model.strip() == "human" else need_name(command.model, "model")
    display_name = _need_display_name(rows, command.display_name, by.agent_id)
    _need_short_description(command.description, command.capabilities, command.skills, command.emoji)
    if by.agent_id is not None:
        return _register_again(rows, by.agent_id, command, ide, model, display_name)
    need_right(by, "register")
    return [
        copy_fields(
            command,
            AgentRegistered,
            name=find_free_name(rows, f"{ide} ({model})"),
            ide=ide,
            model=model,
            enrolled_by=by.credential or by.id,
            display_name=display_name,
        ),
        CredentialCreated(
            credential_id=command.credential_id,
            kind="agent",
            name=f"{ide} ({model})"[:100],
            digest=command.digest,
            rights=sorted(RIGHTS["agent"] & by.rights),
            agent_id=command.agent_id,
            threads=None if by.threads is None else sorted(by.threads),
        ),
    ]


def _register_again(
    rows: Rows, agent_id: str, command: RegisterAgent, ide: str, model: str, display_name: str | None
) -> list[Event]:
    """The same credential is the same agent: it may update its description, and it is never duplicated."""
    found = rows.get(AGENTS, agent_id)
    if found is None:  # a credential made for an agent that has not shown itself yet
        return [
            copy_fields(
                command,
                AgentRegistered,
                agent_id=agent_id,
                name=find_free_name(rows, f"{ide} ({model})"),
                ide=ide,
                model=model,
                enrolled_by=agent_id,
                display_name=display_name,
            )
        ]
    if found.state == "kicked":
        raise agent_not_found(agent_id)
    stays = (found.ide, found.model) == (ide, model)
    name = find_free_name(rows, found.name if stays else f"{ide} ({model})", agent_id)
    updated = copy_fields(
        command, AgentUpdated, agent_id=agent_id, ide=ide, model=model, name=name, display_name=display_name
    )
    return [AgentResumed(agent_id=agent_id), updated] if found.state == "unregistered" else [updated]


def update_agent(rows: Rows, command: UpdateAgent, context: Context) -> list[Event]:
    agent = _need_own_or_operated(rows, command, command.agent_id)
    _need_short_description(command.description or "", command.capabilities or [], command.skills or [], command.emoji)
    return [
        copy_fields(
            command,
            AgentUpdated,
            agent_id=agent.id,
            display_name=_need_display_name(rows, command.display_name, agent.id),
        )
    ]


def resume_agent(rows: Rows, command: ResumeAgent, context: Context) -> list[Event]:
    agent = need_own_agent(rows, need_principal(command), command.agent_id)
    return _build_return_events(rows, agent) if agent.state == "unregistered" else []


def _build_return_events(rows: Rows, agent: Agent) -> list[Event]:
    """Resume an agent under its own name, or under a similar one if another has taken that meanwhile."""
    name = find_free_name(rows, agent.name, agent.id)
    shown = find_free_name(rows, agent.display_name, agent.id) if agent.display_name else None
    back = AgentResumed(agent_id=agent.id)
    if (name, shown) == (agent.name, agent.display_name):
        return [back]
    return [back, AgentUpdated(agent_id=agent.id, name=name, display_name=shown)]


def unregister_agent(rows: Rows, command: UnregisterAgent, context: Context) -> list[Event]:
    agent = need_own_agent(rows, need_principal(command), command.agent_id)
    return [AgentUnregistered(agent_id=agent.id)] if agent.state == "registered" else []


def kick_agent(rows: Rows, command: KickAgent, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    agent = rows.get(AGENTS, command.agent_id)
    if agent is None:
        raise agent_not_found(command.agent_id)
    if agent.state == "kicked":
        return []
    return [
        AgentKicked(agent_id=agent.id, reason=command.reason[:_TEXT]),
        *[CredentialRevoked(credential_id=one.id, reason="kicked") for one in find_unrevoked(rows, agent.id)],
    ]


def _need_own_or_operated(rows: Rows, command: Command, agent_id: str) -> Agent:
    by = need_principal(command)
    if by.may_operate:
        agent = rows.get(AGENTS, agent_id)
        if agent is None:
            raise agent_not_found(agent_id)
        return agent
    return need_own_agent(rows, by, agent_id)


def _need_display_name(rows: Rows, wanted: str | None, agent_id: str | None) -> str | None:
    return find_free_name(rows, need_name(wanted, "display_name"), agent_id) if wanted else None


def find_free_name(rows: Rows, wanted: str, agent_id: str | None = None) -> str:
    """The name, with a number if a person or another registered agent has it or one that looks like it.

    A binary search finds the number: a thousand agents of one kind cost ten lookups and not a thousand.
    """
    people = find_person_looks(rows)
    if not _is_taken(rows, wanted, agent_id, people):
        return wanted
    taken, free = 1, 2
    while _is_taken(rows, f"{wanted} {free}", agent_id, people):
        taken, free = free, free * 2
    while free - taken > 1:
        middle = (taken + free) // 2
        if _is_taken(rows, f"{wanted} {middle}", agent_id, people):
            taken = middle
        else:
            free = middle
    return f"{wanted} {free}"


def _is_taken(rows: Rows, name: str, agent_id: str | None, people: set[str]) -> bool:
    looks = compute_skeleton(name)
    alike = ({"name": name, "state": "registered"}, {"looks": looks, "state": "registered"})
    return looks in people or any(
        agent.id != agent_id for where in alike for agent in rows.find(AGENTS, where, limit=2)
    )


def _need_short_description(
    description: str, capabilities: list[str], skills: list[AgentSkill], emoji: str | None
) -> None:
    """What agents say of themselves is shown to other agents, so it is kept short."""
    texts = [description, *capabilities, *(s.name for s in skills), *(s.description for s in skills)]
    items: list[Sized] = [capabilities, skills, *(s.tags for s in skills), *(s.examples for s in skills)]
    if any(len(text) > _TEXT for text in texts) or any(len(item) > _ITEMS for item in items) or len(emoji or "") > 16:
        raise Refused("description_too_long", "too_large", text_limit=_TEXT, item_limit=_ITEMS)


DECIDE: dict[type[Command], Decide] = {
    RegisterAgent: register_agent,
    UpdateAgent: update_agent,
    ResumeAgent: resume_agent,
    UnregisterAgent: unregister_agent,
    KickAgent: kick_agent,
    NamePerson: name_person,
}
