"""A second person in the demo, played by a script."""

import json
import threading
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from greenroom.demo import content


def join_room(url: str, token: str) -> None:
    """Enter the room that the token opens, and stay until the hub stops or this program ends."""
    threading.Thread(target=_serve_connection, args=(url.replace("http", "ws", 1), token), daemon=True).start()


def _serve_connection(url: str, token: str) -> None:
    try:
        headers = {"Authorization": f"Bearer {token}"}
        with connect(f"{url}/people", additional_headers=headers, proxy=None) as room:
            _send_frame(room, Cmd="UserLogin", Nickname=content.COLLEAGUE[0])
            for frame in room:
                _handle_frame(room, json.loads(frame))
    except (ConnectionClosed, InvalidHandshake, OSError):
        return  # the hub has stopped, and the demonstration with it


def _handle_frame(room: ClientConnection, heard: dict[str, Any]) -> None:
    _, greeting, reply = content.COLLEAGUE
    if (came := heard.get("UserConnectionStatusNotification")) and came["status"] == "connected":
        _send_chat(room, came["user"]["clientId"], greeting)
    elif said := heard.get("ChatMessageNotification"):
        _send_chat(room, said["chatMessage"]["senderClientId"], reply)


def _send_chat(room: ClientConnection, to: str, text: str) -> None:
    _send_frame(room, Cmd="SendChatMessage", SendChatMessageRequest={"receiverClientId": to, "content": text})


def _send_frame(room: ClientConnection, **message: Any) -> None:
    room.send(json.dumps(message))
