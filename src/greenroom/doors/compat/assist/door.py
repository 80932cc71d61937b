"""Agent Assistant's door. It is loaded when its first client connects, because most hubs never have one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.compat.assist import MOST_BYTES, SERVICE
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub

if TYPE_CHECKING:
    from greenroom.doors.compat.assist.components import AssistComponents
    from greenroom.doors.compat.assist.rooms import RoomDevice

_RPCS = {
    "AskQuestion": "Ask the people of a room and wait for their answer",
    "TaskFinish": "Report finished work to a room and wait for its answer (older name)",
    "WorkReport": "Report work to a room and wait for its answer",
    "SendMcpClientInfo": "Report which client asks",
}


class DelegatedResponse(Response):
    """An answer that another application gives."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class AssistDoor:
    """All that Agent Assistant's clients use."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._loaded: AssistComponents | None = None
        self._loading = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._loaded is not None:
                await self._loaded.service.stop()

    async def _load(self) -> "AssistComponents":
        async with self._loading:
            if self._loaded is None:
                await asyncio.to_thread(_import_dependencies)
                from greenroom.doors.compat.assist.components import AssistComponents

                self._loaded = AssistComponents(self._hub)
        return self._loaded

    async def serve(
        self,
        by: Principal,
        peer: str,
        receive: Receive,
        send: Send,
        first: bytes | None = None,
        *,
        is_text: bool = False,
    ) -> None:
        """Serve a connection that was accepted; see AssistSockets."""
        loaded = await self._load()
        await loaded.sockets.serve(by, peer, receive, send, first, is_text=is_text)

    def find_online_devices(self, by: Principal) -> "dict[str, list[RoomDevice]]":
        """Who is online, by room."""
        return {} if self._loaded is None else self._loaded.sockets.find_online_devices(by)

    def endpoints(self) -> list[Endpoint]:
        """The RPCs. They are public to the guard: UserToken in the body is the credential."""

        async def call(hub: Hub, by: Principal, request: Request) -> Response:
            return DelegatedResponse((await self._load()).app)

        return [
            Endpoint(
                "POST", f"/{SERVICE}/{name}", PUBLIC, call, summary, answer="application/json", max_bytes=MOST_BYTES
            )
            for name, summary in _RPCS.items()
        ]


def _import_dependencies() -> None:
    """Load protobuf and Connect, which takes a moment."""
    import greenroom.doors.compat.assist.components  # noqa: F401
