"""The door that nodes dial: a WebSocket for who has a node's credential."""

from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.endpoint import PRINCIPAL
from greenroom.gateway.links import Links

PATH = "/node"


def node_door(links: Links) -> ASGIApp:
    """The application behind the path; anybody else finds nothing there."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        by = scope[PRINCIPAL]
        if "node" not in by.rights:
            await send({"type": "websocket.close", "code": 4403, "reason": "for nodes only"})
            return
        await links.connect(scope, receive, send, by)

    return app
