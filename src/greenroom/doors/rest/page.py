"""What a person or a watchdog meets first: the front page, who one is, and whether the hub is well."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom import __version__
from greenroom.doors.endpoint import PUBLIC, Endpoint
from greenroom.doors.page import front
from greenroom.doors.rest.wire import json
from greenroom.doors.room_login import enter_room
from greenroom.doors.server import is_exposed
from greenroom.hub import Hub
from greenroom.nouns.access.model import Principal


class HubHealth(msgspec.Struct):
    status: str = "ok"
    service: str = "Greenroom"


async def show_health(hub: Hub, by: Principal, request: Request) -> Response:
    """JSON to who asks for it or takes anything; a plain OK to the older clients that name no format."""
    accept = request.headers.get("accept")
    if accept is None or accept.startswith("text/plain"):
        return Response("OK", media_type="text/plain")
    return json(HubHealth())


async def show_front(hub: Hub, by: Principal, request: Request) -> Response:
    return enter_room(hub, request) or front(hub, request.scope)


class Me(msgspec.Struct):
    """Who calls, what it may do, and which hub this is."""

    id: str
    kind: str
    name: str
    rights: list[str]
    version: str
    now: int
    """The hub's clock, in milliseconds."""
    room: str | None
    """The room whose people the caller is one of."""
    insecure: bool
    """The hub may be called over a network in the clear: everybody there can read what goes by, credentials too."""


async def show_me(hub: Hub, by: Principal, request: Request) -> Response:
    insecure = is_exposed(hub.settings)
    return json(Me(by.id, by.kind, by.name, sorted(by.rights), __version__, hub.log.clock.now(), by.room, insecure))


ENDPOINTS = [
    Endpoint("GET", "/", PUBLIC, show_front, "The front page, or the way to the login", answer="text/html"),
    Endpoint("GET", "/api/me", "enter", show_me, "Who you are to this hub", answer=Me),
    Endpoint("GET", "/health", PUBLIC, show_health, "Whether the hub is well", answer=HubHealth),
]
