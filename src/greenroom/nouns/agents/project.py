"""Rows of agents."""

import msgspec

from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.nouns.agents.decide import DECIDE
from greenroom.nouns.agents.model import (
    AGENTS,
    Agent,
    AgentKicked,
    AgentRegistered,
    AgentResumed,
    AgentUnregistered,
    AgentUpdated,
)


def agent_registered(tx: Tx, event: AgentRegistered, record: Recorded) -> None:
    tx.put(
        AGENTS,
        Agent(
            id=event.agent_id,
            name=event.name,
            ide=event.ide,
            model=event.model,
            registered_at=record.at,
            enrolled_by=event.enrolled_by,
            description=event.description,
            capabilities=event.capabilities,
            skills=event.skills,
            display_name=event.display_name,
            emoji=event.emoji,
        ),
    )


def agent_updated(tx: Tx, event: AgentUpdated, record: Recorded) -> None:
    said = {name: value for name, value in msgspec.structs.asdict(event).items() if value is not None}
    said.pop("agent_id")
    _change(tx, event.agent_id, **said)


def agent_resumed(tx: Tx, event: AgentResumed, record: Recorded) -> None:
    _change(tx, event.agent_id, state="registered")


def agent_unregistered(tx: Tx, event: AgentUnregistered, record: Recorded) -> None:
    _change(tx, event.agent_id, state="unregistered")


def agent_kicked(tx: Tx, event: AgentKicked, record: Recorded) -> None:
    _change(tx, event.agent_id, state="kicked")


def _change(tx: Tx, agent_id: str, **fields: object) -> None:
    found = tx.get(AGENTS, agent_id)
    if found is not None:
        tx.put(AGENTS, msgspec.structs.replace(found, **fields))


PROJECT: dict[type[Event], Project] = {
    AgentRegistered: agent_registered,
    AgentUpdated: agent_updated,
    AgentResumed: agent_resumed,
    AgentUnregistered: agent_unregistered,
    AgentKicked: agent_kicked,
}

AGENTS_NOUN = Noun(
    name="agents",
    tables=(AGENTS,),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    sources=("greenroom.nouns.agents.model", "greenroom.nouns.agents.project"),
)
