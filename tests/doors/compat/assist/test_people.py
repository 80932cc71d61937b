"""The page's side of rooms: who is online and their chat, beside devices that speak in binary frames."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.doors.compat.assist.rig import Agent, Device, room_token

Json = dict[str, Any]


@contextmanager
def page(hub: HubProcess, token: str, nickname: str, room: str = "") -> Iterator[ClientConnection]:
    url = hub.url.replace("http", "ws", 1) + "/people"
    with connect(url, additional_headers={"Authorization": f"Bearer {token}"}) as ws:
        ws.send(json.dumps({"Cmd": "UserLogin", "StrParam": room, "Nickname": nickname}))
        yield ws


def hear(ws: ClientConnection, cmd: str) -> Json:
    frame: Json = json.loads(ws.recv(timeout=WAIT_S))
    assert frame["Cmd"] == cmd, frame
    return frame


def test_a_page_and_a_device_of_a_room_see_each_other_and_talk(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen", "answer")
    with Device(hub, token, "phone") as phone, page(hub, hub.token, "desk", "room:kitchen") as desk:
        login = hear(desk, "UserLogin")["UserLoginResponse"]
        assert login["success"]
        assert phone.hear("UserConnectionStatusNotification").UserConnectionStatusNotification.user.nickname == "desk"
        assert phone.online() == ["desk"]
        word = {"receiver_client_id": phone.id, "content": "hello"}
        desk.send(json.dumps({"Cmd": "SendChatMessage", "SendChatMessageRequest": word}))
        chat = phone.hear("ChatMessageNotification").ChatMessageNotification.chat_message
        assert (chat.content, chat.sender_nickname, chat.sender_client_id) == ("hello", "desk", login["clientId"])
        rooms = httpx.get(f"{hub.url}/api/people", headers={"Authorization": f"Bearer {hub.token}"}).json()
        assert [(room["room"], sorted(p["nickname"] for p in room["people"])) for room in rooms] == [
            ("kitchen", ["desk", "phone"])
        ]
        other = room_token(hub, "cellar")
        assert httpx.get(f"{hub.url}/api/people", headers={"Authorization": f"Bearer {other}"}).json() == []


def test_an_operator_who_visits_a_room_is_told_of_that_room_alone(hub: HubProcess) -> None:
    kitchen, cellar = room_token(hub, "kitchen"), room_token(hub, "cellar")
    with page(hub, hub.token, "boss", "room:kitchen") as desk, Device(hub, cellar) as below:
        hear(desk, "UserLogin")
        Agent(hub, cellar).ask("q", "Of the cellar?")
        below.hear("AskQuestion")
        call = Agent(hub, kitchen).ask("q", "Of the kitchen?")
        asked = hear(desk, "AskQuestion")["AskQuestionRequest"]
        assert asked["Request"]["Question"] == "Of the kitchen?"
        content = {"type": 1, "text": {"type": "text", "text": "yes"}}
        response = {"ID": asked["ID"], "contents": [content]}
        desk.send(json.dumps({"Cmd": "AskQuestionReply", "AskQuestionRequest": asked, "AskQuestionResponse": response}))
        assert call.done().contents[0].text.text == "yes"


def test_who_is_no_person_of_a_room_is_not_let_in(hub: HubProcess) -> None:
    headers = {"Authorization": f"Bearer {hub.token}"}
    viewer = httpx.post(f"{hub.url}/api/credentials", json={"kind": "viewer", "name": "v"}, headers=headers).json()
    for token in (viewer["token"], "nonsense"):
        with pytest.raises(InvalidStatus), page(hub, token, "x"):
            pass
    with page(hub, hub.token, "x", "") as ws:
        assert not hear(ws, "UserLogin")["UserLoginResponse"].get("success")
