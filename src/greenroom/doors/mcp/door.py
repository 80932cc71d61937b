"""The MCP door as one ASGI application: which path is which transport."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from greenroom.doors.mcp.exchange import SESSION_ID
from greenroom.doors.mcp.http import StreamableHttp
from greenroom.doors.mcp.legacy_sse import LegacySse
from greenroom.doors.mcp.server import PROGRESS_S, Service
from greenroom.doors.mcp.tool import Offer
from greenroom.settings import Settings

if TYPE_CHECKING:
    from greenroom.hub import Hub


class McpDoor:
    """Serves PATHS. The guard in front sets scope["greenroom.principal"]; `run` is entered while it serves."""

    PATHS = ("/mcp", "/mcp/sse", "/sse", "/messages")

    def __init__(self, offer: Offer, hub: "Hub", settings: Settings, progress_s: float = PROGRESS_S) -> None:
        service = Service(offer, hub)
        self.http = StreamableHttp(service, settings, progress_s)
        self.legacy = LegacySse(service, settings, progress_s)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while this is entered."""
        async with self.http.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/messages":
            await self.legacy.post(scope, receive, send)
        elif path == "/sse" or (path == "/mcp/sse" and _opens_legacy_stream(scope)):
            await self.legacy.stream(scope, receive, send)
        else:
            await self.http(scope, receive, send)


def _opens_legacy_stream(scope: Scope) -> bool:
    """Clients that were set up for SSE know `/mcp/sse` as the place of the old stream; newer ones have a session."""
    return scope["method"] == "GET" and all(name != SESSION_ID for name, _ in scope["headers"])
