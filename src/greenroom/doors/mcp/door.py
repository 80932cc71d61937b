"""The MCP door as one ASGI application: which path serves which transport."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from starlette.types import Receive, Scope, Send

from greenroom.doors.mcp import PATHS, TOOL_PREFIX
from greenroom.doors.mcp.exchange import SESSION_ID
from greenroom.doors.mcp.http import StreamableHttp
from greenroom.doors.mcp.proxied_tools import ProxiedTools
from greenroom.doors.mcp.server import PROGRESS_S, McpService
from greenroom.doors.mcp.single_calls import SingleCalls
from greenroom.doors.mcp.tool import McpCatalog
from greenroom.log.signals import SignalKind
from greenroom.settings import Settings

if TYPE_CHECKING:
    from greenroom.services.hub import Hub
    from greenroom.services.tool_servers import ToolServers


class LegacyTransport(Protocol):
    """The transport of older clients: a stream of events, and a place to post messages."""

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def end_streams(self) -> None: ...


MakeLegacy = Callable[[StreamableHttp, Settings], LegacyTransport]


class McpDoor:
    """Serves PATHS, and `/sse` and `/messages` if it has the legacy transport.

    The guard in front sets scope["greenroom.principal"]; `run` is entered while it serves.
    """

    PATHS = PATHS

    def __init__(
        self,
        offer: McpCatalog,
        hub: "Hub",
        settings: Settings,
        progress_s: float = PROGRESS_S,
        servers: "ToolServers | None" = None,
        legacy: MakeLegacy | None = None,
    ) -> None:
        self._hub = hub
        foreign = None if servers is None else ProxiedTools(hub, servers)
        service = McpService(offer, hub, foreign)
        self.http = StreamableHttp(service, settings, progress_s)
        self.single_calls = SingleCalls(service, self.http, settings)
        self.legacy = None if legacy is None else legacy(self.http, settings)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while this is entered; streams end when the hub says that it stops."""
        unlisten = self._hub.signals.listen(self._on_signal)
        try:
            async with self.http.run():
                yield
        finally:
            unlisten()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, legacy = scope["path"], self.legacy
        if path == "/mcp/messages" or path.startswith(TOOL_PREFIX):
            await self.single_calls(scope, receive, send)
        elif legacy is not None and path == "/messages":
            await legacy.post(scope, receive, send)
        elif legacy is not None and (path == "/sse" or (path == "/mcp/sse" and _opens_legacy_stream(scope))):
            await legacy.stream(scope, receive, send)
        else:
            await self.http(scope, receive, send)

    def _on_signal(self, kind: SignalKind, _payload: Any) -> None:
        # Calls that wait end with what they wait for, with an answer; a stream has nothing else that ends it.
        if kind == "hub.stopping":
            self.http.end_streams()
            if self.legacy is not None:
                self.legacy.end_streams()


def _opens_legacy_stream(scope: Scope) -> bool:
    """Clients that were set up for SSE know `/mcp/sse` as the place of the old stream; newer ones have a session."""
    return scope["method"] == "GET" and all(name != SESSION_ID for name, _ in scope["headers"])
