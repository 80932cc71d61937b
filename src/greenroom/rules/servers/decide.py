"""The rules for servers: only an operator registers them, and agents get no tool that nobody accepted."""

import re
from pathlib import PurePath
from urllib.parse import urlsplit

from greenroom.errors import Refused
from greenroom.link.hub_tools import SERVER_SEPARATOR
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.servers.commands import (
    AcceptTools,
    HoldTools,
    NoteServer,
    NoteTools,
    PutServer,
    RemoveServer,
    ServerPut,
    ServerRemoved,
    ServerStateChanged,
    ToolAccepted,
    ToolGone,
    ToolHeld,
    ToolSeen,
)
from greenroom.rules.servers.model import SERVER_TOOLS, SERVERS, McpServer, ServerDefinition
from greenroom.sentences import Sentence, build_sentence
from greenroom.validation import build_named_problem, get_nearest

MAX_TOOLS = 500
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,29}[a-z0-9])?")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MOST_NAME_CHARS = 64
_SECRET_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:/.+")
_SECRET_KEY = re.compile(r"(?i)(token|secret|password|passwd|api_?key|credential)")
_RESERVED_NAMES = ("greenroom", "hub")


def find_server_problems(name: str, definition: ServerDefinition) -> list[Sentence]:
    """What is wrong with a server, each with its key and what to write instead."""
    out: list[Sentence] = []
    if not _NAME.fullmatch(name) or name in _RESERVED_NAMES:
        out.append(build_named_problem("name", build_sentence("server_problem.name")))
    if bool(definition.command) == bool(definition.url):
        out.append(build_named_problem("command", build_sentence("server_problem.command_or_url")))
    if definition.url:
        address = urlsplit(definition.url)
        if address.scheme not in ("http", "https") or not address.hostname or address.username or address.password:
            out.append(build_named_problem("url", build_sentence("server_problem.url")))
    if definition.directory is not None and not PurePath(definition.directory).is_absolute():
        out.append(build_named_problem("directory", build_sentence("server_problem.directory")))
    for key, reference in definition.secrets.items():
        if not _SECRET_REFERENCE.fullmatch(reference):
            out.append(build_named_problem(f"secrets.{key}", build_sentence("server_problem.secret")))
    for key in definition.env:
        if _SECRET_KEY.search(key):
            out.append(build_named_problem(f"env.{key}", build_sentence("server_problem.looks_secret")))
    if not 1 <= definition.timeout_s <= 86_400:
        said = build_sentence("profile_problem.number_between", least=1, most=86_400)
        out.append(build_named_problem("timeout_s", said))
    return out


def put_server(rows: Rows, command: PutServer, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    wrong = find_server_problems(command.name, command.definition)
    if wrong:
        raise Refused("bad_server", details={"problems": list(map(str, wrong))}, name=command.name[:64], problems=wrong)
    found = rows.get(SERVERS, command.name)
    if found is not None and (found.definition, found.source) == (command.definition, command.source):
        return []
    events: list[Event] = [copy_fields(command, ServerPut)]
    if found is not None and _is_other_program(found.definition, command.definition):
        # another program under the same name: earlier acceptance does not apply to it
        events += [
            ToolHeld(server=tool.server, name=tool.name)
            for tool in rows.find(SERVER_TOOLS, {"server": command.name})
            if tool.state == "accepted"
        ]
    return events


def _is_other_program(before: ServerDefinition, after: ServerDefinition) -> bool:
    return (before.command, before.url, before.directory) != (after.command, after.url, after.directory)


def remove_server(rows: Rows, command: RemoveServer, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    need_server(rows, command.name)
    return [ServerRemoved(name=command.name)]


def accept_tools(rows: Rows, command: AcceptTools, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    need_server(rows, command.server)
    events: list[Event] = []
    for name, digest in command.tools.items():
        tool = rows.get(SERVER_TOOLS, command.server, name)
        if tool is None or tool.state == "gone":
            raise Refused("tool_not_found.server", "not_found", server=command.server, name=name[:64])
        if digest is not None and digest != tool.seen.digest:
            raise Refused("tool_changed.seen", "conflict", name=name[:64])
        wrong = explain_not_offered(command.server, name)
        if wrong:
            raise Refused("bad_tool.not_offered", problem=wrong)
        if tool.state != "accepted":
            events.append(ToolAccepted(server=command.server, name=name, digest=tool.seen.digest))
    return events


def explain_not_offered(server: str, name: str) -> Sentence | None:
    """Why a tool can never be offered; None when it can."""
    if not _TOOL_NAME.fullmatch(name):
        return build_sentence("server_problem.tool_name", name=name[:64])
    if len(server) + len(SERVER_SEPARATOR) + len(name) > _MOST_NAME_CHARS:
        return build_sentence(
            "server_problem.long_name", name=f"{server}{SERVER_SEPARATOR}{name}", limit=_MOST_NAME_CHARS
        )
    return None


def hold_tools(rows: Rows, command: HoldTools, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    need_server(rows, command.server)
    found = [rows.get(SERVER_TOOLS, command.server, name) for name in command.tools]
    return [ToolHeld(server=one.server, name=one.name) for one in found if one is not None and one.state == "accepted"]


def note_tools(rows: Rows, command: NoteTools, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    if rows.get(SERVERS, command.server) is None:
        return []
    known = {tool.name: tool for tool in rows.find(SERVER_TOOLS, {"server": command.server})}
    reported = {tool.name: tool for tool in command.tools[:MAX_TOOLS]}
    events: list[Event] = []
    for name, tool in reported.items():
        before = known.get(name)
        if before is None or before.state == "gone" or before.seen.digest != tool.digest:
            events.append(ToolSeen(server=command.server, tool=tool))
    events += [
        ToolGone(server=command.server, name=name)
        for name, before in known.items()
        if name not in reported and before.state != "gone"
    ]
    return events


def note_server(rows: Rows, command: NoteServer, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = rows.get(SERVERS, command.name)
    if found is None or (found.state, found.error) == (command.state, command.error):
        return []
    return [copy_fields(command, ServerStateChanged)]


def need_server(rows: Rows, name: str) -> McpServer:
    found = rows.get(SERVERS, name)
    if found is None:
        raise _server_not_found(rows, name)
    return found


DECIDE: dict[type[Command], Decide] = {
    PutServer: put_server,
    RemoveServer: remove_server,
    AcceptTools: accept_tools,
    HoldTools: hold_tools,
    NoteTools: note_tools,
    NoteServer: note_server,
}


def _server_not_found(rows: Rows, name: str) -> Refused:
    near = get_nearest(name, [one.name for one in rows.find(SERVERS)])
    if near is not None:
        return Refused("server_not_found.near", "not_found", name=name[:64], near=near)
    return Refused("server_not_found", "not_found", name=name[:64])
