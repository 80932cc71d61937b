"""`/ws`, which two protocols share: text frames for run-tree clients, binary frames for Agent Assistant's clients."""

from starlette.types import Receive, Scope, Send

from greenroom.doors.compat.assist.door import AssistDoor
from greenroom.doors.compat.run_tree.socket import RunTreeSocket
from greenroom.doors.http.credentials import read_peer_address
from greenroom.doors.http.routes import PRINCIPAL
from greenroom.rules.access.model import NOBODY


class SharedSocket:
    """The ASGI application at `/ws`; the guard has authenticated the caller, or allowed an anonymous connection."""

    def __init__(self, text: RunTreeSocket | None, binary: AssistDoor | None) -> None:
        self._text = text
        self._binary = binary

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by = scope.get(PRINCIPAL, NOBODY)
        text = self._text if "read" in by.rights else None
        if text is None and self._binary is None:
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        first = None if text is None else await text.serve(by, receive, send)
        if text is not None and first is None:
            return
        if self._binary is None:
            await send({"type": "websocket.close", "code": 1003, "reason": "the setting compat_assist is off"})
        else:
            await self._binary.serve(by, read_peer_address(scope), receive, send, first)
