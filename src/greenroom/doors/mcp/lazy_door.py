"""Loads the MCP door at the first request: importing its SDK takes longer than the rest of the hub's start."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.services.hub import Hub
from greenroom.services.sdk_import_lock import SDK_LOADING
from greenroom.services.tool_servers import ToolServers

if TYPE_CHECKING:
    from greenroom.doors.mcp.door import MakeLegacy, McpDoor
    from greenroom.doors.mcp.tool import McpCatalog


class LazyMcpDoor:
    """A placeholder for the MCP door; the first request waits until it is loaded. `run` is entered while it serves."""

    def __init__(self, hub: Hub, servers: ToolServers, load_legacy: "Callable[[], MakeLegacy] | None") -> None:
        self._hub = hub
        self._servers = servers
        self._load_legacy = load_legacy
        self._wanted = asyncio.Event()
        self._over = asyncio.Event()
        self._door: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while this is entered."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._load_and_run(), name="mcp door")
            try:
                yield
            finally:
                self._over.set()
                self._wanted.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wanted.set()
        door = self._door.result() if self._door.done() else await asyncio.shield(self._door)
        await door(scope, receive, send)

    async def _load_and_run(self) -> None:
        await self._wanted.wait()
        if self._over.is_set():
            return
        make, offer, legacy = await asyncio.to_thread(_import_door, self._load_legacy)
        door = make(offer, self._hub, self._hub.settings, servers=self._servers, legacy=legacy)
        gc.freeze()  # imported modules stay
        async with door.run():
            self._door.set_result(door)
            await self._over.wait()


def _import_door(
    load_legacy: "Callable[[], MakeLegacy] | None",
) -> "tuple[type[McpDoor], McpCatalog, MakeLegacy | None]":
    with SDK_LOADING:
        from greenroom.doors.mcp.catalog import OFFER
        from greenroom.doors.mcp.door import McpDoor

        legacy = None if load_legacy is None else load_legacy()
    return McpDoor, OFFER, legacy
