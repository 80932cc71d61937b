"""How a device joins a room: by the token in its first message, or by the credential of its connection."""

import json
import logging

import msgspec
from google.protobuf.json_format import MessageToJson
from starlette.types import Receive, Send

from greenroom.doors.compat.assist.agentassist_pb2 import UserLoginResponse, WebsocketMessage
from greenroom.doors.compat.assist.frames import build_frame, parse_frame, receive_frame
from greenroom.doors.compat.assist.rooms import RoomDevice
from greenroom.doors.http.credentials import CredentialRefused, Credentials
from greenroom.errors import Refused
from greenroom.rules.access.model import NOBODY, Principal
from greenroom.rules.access.queries import is_room_name
from greenroom.rules.asks.model import ROOM
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
PATH = "/ws"
LOGIN_REQUIRED = "log in first: UserLogin with your token"
_NO_CREDENTIAL = json.dumps(
    {
        "type": "error",
        "code": "credential_missing",
        "message": "Connect with `Authorization: Bearer <token>`: see `greenroom token`.",
    }
)
_FRAMES = 5
"""So many frames are looked at for the login."""


class Logins:
    """Authenticates people."""

    def __init__(self, hub: Hub, credentials: Credentials) -> None:
        self._hub = hub
        self._credentials = credentials

    async def log_in_device(
        self, by: Principal, peer: str, receive: Receive, send: Send, first: bytes | None, *, is_text: bool
    ) -> RoomDevice | None:
        """The device if it has logged in; None when it has gone, or was sent away."""
        message = await _receive_login(receive, send, first, is_text)
        if message is None:
            return None
        try:
            who = self._prove_person(by, message.StrParam, peer)
        except (CredentialRefused, Refused) as no:
            status = no.status if isinstance(no, CredentialRefused) else 403
            self._hub.refusals.note(by=by.id, peer=peer, action=f"WS {PATH} UserLogin", code=no.code, status=status)
            answer = WebsocketMessage(Cmd="UserLogin", UserLoginResponse=UserLoginResponse(error_message=str(no)))
            await send(build_frame(MessageToJson(answer, indent=None) if is_text else answer.SerializeToString()))
            await send({"type": "websocket.close", "code": 4401, "reason": "this token opens no room"})
            return None
        return RoomDevice(who, message.Nickname, self._hub.log.clock.now(), is_text=is_text)

    def _prove_person(self, by: Principal, given: str, peer: str) -> Principal:
        """Who logs in: by the token they give, as who they are already, or as an operator who visits a room."""
        if by.may_operate and given.startswith(ROOM) and is_room_name(given.removeprefix(ROOM)):
            return msgspec.structs.replace(by, room=given.removeprefix(ROOM))
        who = self._credentials.prove_token(given, peer) if given else by
        if who is NOBODY or who.room is None or "answer" not in who.rights:
            raise Refused("not_a_room")
        return who


async def _receive_login(receive: Receive, send: Send, first: bytes | None, is_text: bool) -> WebsocketMessage | None:
    """The message that logs in; what comes before it is passed over. None when the connection is over."""
    for _ in range(_FRAMES):
        data = first if first is not None else await receive_frame(receive)
        first = None
        if data is None:
            return None
        message = parse_frame(data, is_text=is_text)
        if message is not None and message.Cmd == "UserLogin":
            return message
        logger.warning("a frame before the login is passed over")
        if isinstance(data, str) and not is_text:  # a client of runs, which gets the reason
            await send(build_frame(_NO_CREDENTIAL))
    raise TimeoutError
