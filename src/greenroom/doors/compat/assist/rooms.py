"""The devices that are online in each room, and the messages queued for each. Nothing here outlives a connection."""

import unicodedata

from google.protobuf.json_format import MessageToJson

from greenroom.clock import Clock
from greenroom.doors.compat.assist.agentassist_pb2 import (
    ChatMessage,
    ChatMessageNotification,
    OnlineUser,
    UserConnectionStatusNotification,
    UserLoginResponse,
    WebsocketMessage,
)
from greenroom.doors.http.websocket_sender import WebSocketSender
from greenroom.ids import new_id
from greenroom.rules.access.model import Principal

_UNSENT_BYTES = 32 << 20
_NICKNAME = 64


class RoomDevice:
    """One connection of a person: who they are to us, how they call themselves, and what waits to be sent."""

    def __init__(self, by: Principal, nickname: str, now: int, *, is_text: bool = False) -> None:
        self.id = new_id("dev")
        self.by = by
        self.nickname = clean_nickname(nickname) or f"guest {self.id[-4:]}"
        self.connected_at = now // 1000
        self.family: str | None = "WorkReport" if is_text else None
        """The family of commands for reports that it has shown to know; until then it is sent both."""
        self.is_text = is_text
        """Whether it is sent its messages as JSON."""
        self.line: WebSocketSender[bytes | str] = WebSocketSender(
            _UNSENT_BYTES, "too slow: connect again and ask for the pending messages"
        )

    @property
    def user(self) -> OnlineUser:
        return OnlineUser(client_id=self.id, nickname=self.nickname, connected_at=self.connected_at)

    @property
    def welcome(self) -> WebsocketMessage:
        answer = UserLoginResponse(client_id=self.id, success=True)
        return WebsocketMessage(Cmd="UserLogin", UserLoginResponse=answer)

    def send(self, message: WebsocketMessage) -> None:
        """Queue a message; a client that does not read is disconnected."""
        self.line.send(MessageToJson(message, indent=None) if self.is_text else message.SerializeToString())


class Rooms:
    """The connected devices of each room."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rooms: dict[str, dict[str, RoomDevice]] = {}

    def find_devices(self, room: str | None) -> list[RoomDevice]:
        return list(self._rooms.get(room or "", {}).values())

    def find_all_devices(self) -> list[RoomDevice]:
        return [device for devices in self._rooms.values() for device in devices.values()]

    def get(self, room: str | None, device_id: str) -> RoomDevice | None:
        return self._rooms.get(room or "", {}).get(device_id)

    def rename(self, device: RoomDevice, nickname: str) -> None:
        """Give a device another nickname, and notify the others."""
        name = clean_nickname(nickname)
        if name and name != device.nickname:
            device.nickname = name
            self._announce(device, "connected")

    def join(self, device: RoomDevice) -> None:
        """Add a device, and notify the others."""
        self._rooms.setdefault(device.by.room or "", {})[device.id] = device
        self._announce(device, "connected")

    def leave(self, device: RoomDevice) -> None:
        room = device.by.room or ""
        if self._rooms.get(room, {}).pop(device.id, None) is None:
            return
        if not self._rooms[room]:
            del self._rooms[room]
        self._announce(device, "disconnected")

    def _announce(self, device: RoomDevice, status: str) -> None:
        now_s = self._clock.now() // 1000
        notice = UserConnectionStatusNotification(user=device.user, status=status, timestamp=now_s)
        message = WebsocketMessage(Cmd="UserConnectionStatusNotification", UserConnectionStatusNotification=notice)
        for other in self.find_devices(device.by.room):
            if other is not device:
                other.send(message)

    def chat(self, sender: RoomDevice, receiver_id: str, content: str) -> bool:
        """Pass a word on to another device of the same room; False when it is not there."""
        receiver = self._rooms.get(sender.by.room or "", {}).get(receiver_id)
        if receiver is None:
            return False
        word = ChatMessage(
            message_id=new_id("msg"),
            sender_client_id=sender.id,
            sender_nickname=sender.nickname,
            receiver_client_id=receiver.id,
            receiver_nickname=receiver.nickname,
            content=content,
            sent_at=self._clock.now() // 1000,
        )
        notice = ChatMessageNotification(chat_message=word)
        receiver.send(WebsocketMessage(Cmd="ChatMessageNotification", ChatMessageNotification=notice))
        return True


def clean_nickname(nickname: str) -> str:
    """A nickname that fits on a line: it is shown and proves nothing."""
    plain = "".join(letter for letter in nickname if unicodedata.category(letter)[0] != "C")
    return " ".join(plain.split())[:_NICKNAME]
