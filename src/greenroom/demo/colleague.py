"""A second person in the room of the demonstration: present like any other, played by a script."""

import json
import threading
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from greenroom.demo import words


def come_in(url: str, token: str) -> None:
    """Enter the room that the token opens, and stay until the hub stops or this program ends."""
    threading.Thread(target=_stay, args=(url.replace("http", "ws", 1), token), daemon=True).start()


def _stay(url: str, token: str) -> None:
    try:
        headers = {"Authorization": f"Bearer {token}"}
        with connect(f"{url}/people", additional_headers=headers, proxy=None) as room:
            _tell(room, Cmd="UserLogin", Nickname=words.COLLEAGUE[0])
            for frame in room:
                _answer(room, json.loads(frame))
    except (ConnectionClosed, InvalidHandshake, OSError):
        return  # the hub has stopped, and the demonstration with it


def _answer(room: ClientConnection, heard: dict[str, Any]) -> None:
    _, greeting, reply = words.COLLEAGUE
    if (came := heard.get("UserConnectionStatusNotification")) and came["status"] == "connected":
        _say(room, came["user"]["clientId"], greeting)
    elif said := heard.get("ChatMessageNotification"):
        _say(room, said["chatMessage"]["senderClientId"], reply)


def _say(room: ClientConnection, to: str, text: str) -> None:
    _tell(room, Cmd="SendChatMessage", SendChatMessageRequest={"receiverClientId": to, "content": text})


def _tell(room: ClientConnection, **message: Any) -> None:
    room.send(json.dumps(message))
