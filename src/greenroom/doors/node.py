"""The door for nodes: a WebSocket that needs a node's credential."""

from starlette.types import Receive, Scope, Send

from greenroom.doors.http.routes import PRINCIPAL
from greenroom.services.node_links import NodeLinks

PATH = "/node"


class NodeDoor:
    """The application behind the path; anybody else finds nothing there."""

    def __init__(self, links: NodeLinks) -> None:
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        by = scope[PRINCIPAL]
        if "node" not in by.rights:
            await send({"type": "websocket.close", "code": 4403, "reason": "for nodes only"})
            return
        await self._links.connect(scope, receive, send, by)
