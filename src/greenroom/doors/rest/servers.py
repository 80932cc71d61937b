"""MCP servers behind the hub, and their tools, over REST."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
from greenroom.doors.rest.wire import read_json_response
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.servers.commands import AcceptTools, HoldTools, PutServer
from greenroom.rules.servers.decide import explain_not_offered, need_server
from greenroom.rules.servers.model import (
    SERVER_TOOLS,
    SERVERS,
    DescribedTool,
    McpServer,
    ServerToolState,
    get_tool_risk,
)
from greenroom.rules.servers.verbs import SERVER_VERBS
from greenroom.sentences import Sentence, Words
from greenroom.services.hub import Hub


class ShownTool(msgspec.Struct):
    """A tool as its server describes it now, beside what a person last accepted."""

    name: str
    offered_as: str
    state: ServerToolState
    risk: Risk
    seen: DescribedTool
    accepted: DescribedTool | None
    accepted_by: str | None
    problem: Words
    """Why it can never be offered; empty when it can."""
    sentences: dict[str, Sentence] = {}


class ShownServer(msgspec.Struct):
    server: McpServer
    tools: list[ShownTool]


async def list_servers(hub: Hub, by: Principal, request: Request) -> Response:
    return await read_json_response(
        hub, lambda rows: [_build_server(rows, server) for server in rows.find(SERVERS, order="_key")]
    )


async def show_server(hub: Hub, by: Principal, request: Request) -> Response:
    name = request.path_params["server"]
    return await read_json_response(hub, lambda rows: _build_server(rows, need_server(rows, name)))


def _build_server(rows: Rows, server: McpServer) -> ShownServer:
    tools = [
        ShownTool(
            tool.name,
            tool.offered_as,
            tool.state,
            get_tool_risk(server.definition, tool.seen),
            tool.seen,
            tool.accepted,
            tool.accepted_by,
            explain_not_offered(server.name, tool.name) or "",
        )
        for tool in rows.find(SERVER_TOOLS, {"server": server.name}, order="_key")
    ]
    return ShownServer(server, tools)


def _build_changed(result: VerbResult) -> ShownServer:
    return _build_server(result.hub.rows, need_server(result.hub.rows, result.id))


ENDPOINTS = [
    Endpoint("GET", "/api/servers", "operate", list_servers, "MCP servers and tools", answer=list[ShownServer]),
    Endpoint("GET", "/api/servers/{server}", "operate", show_server, "An MCP server", answer=ShownServer),
    *build_verb_endpoints(SERVER_VERBS, dict.fromkeys((PutServer, AcceptTools, HoldTools), _build_changed)),
]
