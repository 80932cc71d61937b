"""The paths of the streaming doors: the sync socket and the events of the bus."""

from starlette.routing import WebSocketRoute

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.sync import event_stream, socket
from greenroom.services.hub import Hub


def endpoints(hub: Hub) -> list[Endpoint]:
    """What this door serves over HTTP."""
    return [event_stream.build_endpoint(hub)]


def routes(hub: Hub) -> list[WebSocketRoute]:
    """The endpoints over WebSocket."""
    return [WebSocketRoute(socket.PATH, socket.SyncSocket(hub))]
