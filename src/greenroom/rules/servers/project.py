"""The projection of servers and their tools."""

from functools import partial

import msgspec

from greenroom.log.copied_fields import copy_fields, take_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.log.row_changes import change_row
from greenroom.rules.servers.commands import (
    ServerPut,
    ServerRemoved,
    ServerStateChanged,
    ToolAccepted,
    ToolGone,
    ToolHeld,
    ToolSeen,
)
from greenroom.rules.servers.decide import DECIDE
from greenroom.rules.servers.model import SERVER_TOOLS, SERVERS, McpServer, ServerState, ServerTool

replace = msgspec.structs.replace
_change = partial(change_row, SERVER_TOOLS)


def server_put(tx: Tx, event: ServerPut, record: Recorded) -> None:
    state: ServerState = "starting" if event.definition.enabled else "off"
    server = copy_fields(event, McpServer, changed_at=record.at, state=state, state_at=record.at)
    tx.put(SERVERS, server)


def server_removed(tx: Tx, event: ServerRemoved, record: Recorded) -> None:
    tx.drop(SERVERS, event.name)
    for tool in tx.find(SERVER_TOOLS, {"server": event.name}):
        tx.drop(SERVER_TOOLS, tool.server, tool.name)


def server_state_changed(tx: Tx, event: ServerStateChanged, record: Recorded) -> None:
    found = tx.get(SERVERS, event.name)
    if found is not None:
        tx.put(SERVERS, take_fields(found, event, state_at=record.at))


def tool_seen(tx: Tx, event: ToolSeen, record: Recorded) -> None:
    before = tx.get(SERVER_TOOLS, event.server, event.tool.name)
    tool = ServerTool(
        server=event.server,
        name=event.tool.name,
        seen=event.tool,
        seen_at=record.at,
        accepted=before.accepted if before else None,
        accepted_by=before.accepted_by if before else None,
        accepted_at=before.accepted_at if before else None,
    )
    tx.put(SERVER_TOOLS, tool)


def tool_gone(tx: Tx, event: ToolGone, record: Recorded) -> None:
    _change(tx, event.server, event.name, state="gone")


def tool_accepted(tx: Tx, event: ToolAccepted, record: Recorded) -> None:
    found = tx.get(SERVER_TOOLS, event.server, event.name)
    if found is not None and found.seen.digest == event.digest:
        changed = replace(found, state="accepted", accepted=found.seen, accepted_by=record.by, accepted_at=record.at)
        tx.put(SERVER_TOOLS, changed)


def tool_held(tx: Tx, event: ToolHeld, record: Recorded) -> None:
    _change(tx, event.server, event.name, state="held")


PROJECT: dict[type[Event], Project] = {
    ServerPut: server_put,
    ServerRemoved: server_removed,
    ServerStateChanged: server_state_changed,
    ToolSeen: tool_seen,
    ToolGone: tool_gone,
    ToolAccepted: tool_accepted,
    ToolHeld: tool_held,
}

SERVERS_NOUN = Noun(
    name="servers",
    tables=(SERVERS, SERVER_TOOLS),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    sources=("greenroom.rules.servers.model", "greenroom.rules.servers.project"),
)
