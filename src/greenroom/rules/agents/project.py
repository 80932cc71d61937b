"""Rows of agents."""

from functools import partial

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.log.row_changes import change_row
from greenroom.rules.agents import invitations, profiles, stored_bytes, wrong_profiles
from greenroom.rules.agents import unavailable_programs as missing_programs
from greenroom.rules.agents.decide import DECIDE
from greenroom.rules.agents.model import (
    AGENTS,
    Agent,
    AgentKicked,
    AgentProcessChanged,
    AgentRegistered,
    AgentResumed,
    AgentStarted,
    AgentUnregistered,
    AgentUpdated,
)
from greenroom.rules.agents.names import compute_skeleton

_change = partial(change_row, AGENTS)


def agent_registered(tx: Tx, event: AgentRegistered, record: Recorded) -> None:
    tx.put(
        AGENTS,
        copy_fields(
            event,
            Agent,
            id=event.agent_id,
            registered_at=record.at,
            looks=compute_skeleton(event.display_name or event.name),
        ),
    )


def agent_started(tx: Tx, event: AgentStarted, record: Recorded) -> None:
    tx.put(
        AGENTS,
        copy_fields(
            event,
            Agent,
            id=event.agent_id,
            ide=event.driver,
            registered_at=record.at,
            enrolled_by="hub",
            process="starting",
            looks=compute_skeleton(event.name),
        ),
    )


def agent_process_changed(tx: Tx, event: AgentProcessChanged, record: Recorded) -> None:
    found = tx.get(AGENTS, event.agent_id)
    if found is not None:
        node_id = event.node_id or found.node_id
        session = event.session or found.session
        changed = {"process": event.process, "node_id": node_id, "session": session, "run_id": event.run_id}
        tx.put(AGENTS, msgspec.structs.replace(found, **changed))


def agent_updated(tx: Tx, event: AgentUpdated, record: Recorded) -> None:
    said = {name: value for name, value in msgspec.structs.asdict(event).items() if value is not None}
    said.pop("agent_id")
    _change(tx, event.agent_id, **said)
    found = tx.get(AGENTS, event.agent_id)
    if found is not None:
        _change(tx, found.id, looks=compute_skeleton(found.display_name or found.name))


def agent_resumed(tx: Tx, event: AgentResumed, record: Recorded) -> None:
    _change(tx, event.agent_id, state="registered")


def agent_unregistered(tx: Tx, event: AgentUnregistered, record: Recorded) -> None:
    _change(tx, event.agent_id, state="unregistered")


def agent_kicked(tx: Tx, event: AgentKicked, record: Recorded) -> None:
    _change(tx, event.agent_id, state="kicked")


PROJECT: dict[type[Event], Project] = {
    AgentRegistered: agent_registered,
    AgentStarted: agent_started,
    AgentProcessChanged: agent_process_changed,
    AgentUpdated: agent_updated,
    AgentResumed: agent_resumed,
    AgentUnregistered: agent_unregistered,
    AgentKicked: agent_kicked,
    **profiles.PROJECT,
    **wrong_profiles.PROJECT,
    **missing_programs.PROJECT,
    **invitations.PROJECT,
}

AGENTS_NOUN = Noun(
    name="agents",
    tables=(
        AGENTS,
        profiles.PROFILES,
        wrong_profiles.WRONG_PROFILES,
        missing_programs.MISSING_PROGRAMS,
        stored_bytes.STORED_BYTES,
    ),
    events=tuple(PROJECT),
    decide={**DECIDE, **profiles.DECIDE, **wrong_profiles.DECIDE, **missing_programs.DECIDE, **invitations.DECIDE},
    project=PROJECT,
    admit=stored_bytes.need_quota,
    project_all=stored_bytes.count_event,
    sources=(
        "greenroom.rules.agents.unavailable_programs",
        "greenroom.rules.agents.model",
        "greenroom.rules.agents.names",
        "greenroom.rules.agents.profiles",
        "greenroom.rules.agents.project",
        "greenroom.rules.agents.stored_bytes",
        "greenroom.rules.agents.wrong_profiles",
    ),
)
