"""The people of rooms for the page: who is online, and their chat, as JSON text on `/ws`."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from greenroom.doors.compat.assist.door import AssistDoor
from greenroom.doors.http.credentials import read_peer_address
from greenroom.doors.http.routes import PRINCIPAL, Endpoint
from greenroom.rules.access.model import NOBODY, Principal
from greenroom.services.hub import Hub

PATH = "/people"


class PersonOnline(msgspec.Struct):
    """A device that is online; the nickname proves nothing."""

    client_id: str
    nickname: str
    connected_at: int
    """Seconds since 1970."""


class OnlineRoom(msgspec.Struct):
    room: str
    people: list[PersonOnline]


class PeopleSocket:
    """The ASGI application at `/people`, for authenticated callers. An operator logs in with StrParam `room:NAME`."""

    def __init__(self, door: AssistDoor) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by = scope.get(PRINCIPAL, NOBODY)
        if by.room is None and not by.may_operate:
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        await self._door.serve(by, read_peer_address(scope), receive, send, is_text=True)


def endpoints(door: AssistDoor) -> list[Endpoint]:
    async def find_online_devices(hub: Hub, by: Principal, request: Request) -> Response:
        rooms = [
            OnlineRoom(name, [PersonOnline(one.id, one.nickname, one.connected_at) for one in devices])
            for name, devices in sorted(door.find_online_devices(by).items())
        ]
        return Response(msgspec.json.encode(rooms), media_type="application/json")

    return [
        Endpoint("GET", "/api/people", "answer", find_online_devices, "Who is online, by room", answer=list[OnlineRoom])
    ]
