"""MCP servers behind the hub, and their tools, over REST."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, read_body, read_json_response
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.servers.commands import AcceptTools, HoldTools, PutServer, RemoveServer
from greenroom.rules.servers.decide import explain_not_offered, need_server
from greenroom.rules.servers.model import (
    SERVER_TOOLS,
    SERVERS,
    DescribedTool,
    McpServer,
    ServerDefinition,
    get_tool_risk,
)
from greenroom.services.hub import Hub


class ShownTool(msgspec.Struct):
    """A tool as its server tells of it now, beside what a person last accepted."""

    name: str
    offered_as: str
    state: str
    risk: str
    seen: DescribedTool
    accepted: DescribedTool | None
    accepted_by: str | None
    problem: str
    """Why it can never be offered; empty when it can."""


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
            explain_not_offered(server.name, tool.name),
        )
        for tool in rows.find(SERVER_TOOLS, {"server": server.name}, order="_key")
    ]
    return ShownServer(server, tools)


async def put_server(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, ServerDefinition)
    name = request.path_params["server"]
    await hub.log.do(PutServer(by=by, key=get_idempotency_key(request), name=name, definition=body))
    return build_json_response(_build_server(hub.rows, need_server(hub.rows, name)))


async def remove_server(hub: Hub, by: Principal, request: Request) -> Response:
    await hub.log.do(RemoveServer(by=by, key=get_idempotency_key(request), name=request.path_params["server"]))
    return Response(status_code=204)


class AcceptToolsBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tools, each with the digest that was shown; null accepts it as it is now."""

    tools: dict[str, str | None]


async def accept_tools(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, AcceptToolsBody)
    name = request.path_params["server"]
    await hub.log.do(AcceptTools(by=by, key=get_idempotency_key(request), server=name, tools=body.tools))
    return build_json_response(_build_server(hub.rows, need_server(hub.rows, name)))


class HoldToolsBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tools: list[str]


async def hold_tools(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, HoldToolsBody)
    name = request.path_params["server"]
    await hub.log.do(HoldTools(by=by, key=get_idempotency_key(request), server=name, tools=body.tools))
    return build_json_response(_build_server(hub.rows, need_server(hub.rows, name)))


ENDPOINTS = [
    Endpoint("GET", "/api/servers", "operate", list_servers, "MCP servers and tools", answer=list[ShownServer]),
    Endpoint("GET", "/api/servers/{server}", "operate", show_server, "An MCP server", answer=ShownServer),
    Endpoint(
        "PUT",
        "/api/servers/{server}",
        "operate",
        put_server,
        "Register or change an MCP server",
        body=ServerDefinition,
        answer=ShownServer,
        keyed=True,
    ),
    Endpoint(
        "DELETE", "/api/servers/{server}", "operate", remove_server, "Remove an MCP server", status=204, keyed=True
    ),
    Endpoint(
        "POST",
        "/api/servers/{server}/accept",
        "operate",
        accept_tools,
        "Accept held tools",
        body=AcceptToolsBody,
        answer=ShownServer,
        keyed=True,
    ),
    Endpoint(
        "POST",
        "/api/servers/{server}/hold",
        "operate",
        hold_tools,
        "Hold tools",
        body=HoldToolsBody,
        answer=ShownServer,
        keyed=True,
    ),
]
