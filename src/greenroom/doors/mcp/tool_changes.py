"""Notifies MCP clients when their list of tools has changed."""

import asyncio

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from greenroom.doors.mcp.exchange import Exchange, encode
from greenroom.doors.mcp.sessions import McpSession, McpSessions
from greenroom.log.model import Commit
from greenroom.rules.servers.model import SERVER_TOOLS, SERVERS
from greenroom.services.hub import Hub

_CHANGED = encode({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


class ToolChangeNotifier:
    """Follows the servers behind the hub. Clients of every version get a notification and ask for the list again."""

    def __init__(self, hub: Hub, sessions: McpSessions) -> None:
        self._hub = hub
        self._sessions = sessions
        self._bus = InMemorySubscriptionBus()
        self._changed = asyncio.Event()
        self.listen = ListenHandler(self._bus)
        """Serves the subscriptions of clients that have no session."""

    async def run(self) -> None:
        """Forward changes; to be run as a task. Several changes at once become one notification."""
        unsubscribe = self._hub.log.subscribe(self._on_commit, SERVERS, SERVER_TOOLS)
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                self._sessions.notify_tools_changed()
                await self._bus.publish(ToolsListChanged())
        finally:
            unsubscribe()

    def _on_commit(self, commit: Commit) -> None:
        self._changed.set()


async def send_tool_changes(http: Exchange, session: McpSession) -> None:
    """Notify a session on its open stream, until cancelled."""
    while True:
        await session.changed.wait()
        session.changed.clear()
        await http.send_event(_CHANGED)
