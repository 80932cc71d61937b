"""All doors as one application: maps paths to doors."""

import contextlib
from collections.abc import AsyncIterator, Collection

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors import login, node, terminal_door
from greenroom.doors.compat import legacy_sse
from greenroom.doors.compat.door import CompatDoor
from greenroom.doors.http.errors import build_error_response
from greenroom.doors.http.routes import Dispatcher, Endpoint
from greenroom.doors.login import LoginCodes
from greenroom.doors.mcp import PATHS, TOOL_PREFIX
from greenroom.doors.mcp.lazy_door import LazyMcpDoor
from greenroom.doors.page import PageDoor
from greenroom.doors.rest import door as rest
from greenroom.doors.rest import notification_channels, remote_input
from greenroom.doors.sync import door as sync
from greenroom.services.connections import Connections
from greenroom.services.hub import Hub


@contextlib.asynccontextmanager
async def build_app(
    hub: Hub, codes: LoginCodes, connections: Connections
) -> AsyncIterator[tuple[ASGIApp, list[Endpoint]]]:
    """The application, and what each endpoint declares."""
    endpoints = login.endpoints(codes)
    endpoints += sync.endpoints(hub)
    compat = CompatDoor(hub)
    endpoints += compat.endpoints()
    endpoints += [*notification_channels.endpoints(connections.notifier), *remote_input.endpoints()]
    links = connections.links
    endpoints += rest.endpoints(hub, links, endpoints)
    sockets = [
        *sync.routes(hub),
        WebSocketRoute(node.PATH, node.NodeDoor(links)),
        WebSocketRoute(terminal_door.PATH, terminal_door.TerminalDoor(hub, links)),
        *compat.routes(),
    ]
    beyond = Starlette(routes=sockets, exception_handlers={HTTPException: handle_http_error})
    mcp_paths = (*PATHS, *compat.get_mcp_paths())
    mcp = LazyMcpDoor(hub, connections.servers, legacy_sse.load_transport if compat.get_mcp_paths() else None)
    async with mcp.run(), compat.assist.run():
        yield Dispatcher(hub, endpoints, mount_at_paths(mcp_paths, TOOL_PREFIX, mcp, PageDoor(hub, beyond))), endpoints


def mount_at_paths(paths: Collection[str], prefix: str, door: ASGIApp, beyond: ASGIApp) -> ASGIApp:
    """A door that has these paths and all below the prefix to itself; everything else is beyond it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        here = scope["type"] == "http" and (scope["path"] in paths or scope["path"].startswith(prefix))
        await (door if here else beyond)(scope, receive, send)

    return app


async def handle_http_error(request: Request, error: Exception) -> Response:
    """The answer where no door is."""
    return build_error_response(error)
