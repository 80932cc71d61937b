"""What may come to `/ws` without a credential, and what it gets: nothing but the chance to log in."""

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from greenroom.doors.compat.assist.agentassist_pb2 import McpResultContent
from greenroom.doors.compat.assist.contents import store_files
from greenroom.doors.http.websocket import OLDER_CLIENTS, PING_S, PONG_S
from greenroom.errors import Refused
from greenroom.log.blobs import FileBlobs
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.doors.compat.assist.facts import make, parse
from tests.doors.compat.assist.rig import Agent, Device, room_token
from tests.journeys.mcp_clients import fresh


def opened(hub: HubProcess) -> connect:
    return connect(hub.url.replace("http", "ws", 1) + "/ws")


def code(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            socket.recv(timeout=WAIT_S)
    assert closed.value.rcvd is not None
    return int(closed.value.rcvd.code)


@pytest.mark.parametrize("frame", [b"", b"\xff\xff", b"\x0a\x03abc", "{}", "hello"])
def test_frames_before_the_login_are_passed_over_and_who_sends_nothing_else_is_sent_away(
    shared_hub: HubProcess, frame: bytes | str
) -> None:
    login = make("WebsocketMessage", Cmd="UserLogin", StrParam=room_token(shared_hub, "kitchen"))
    with opened(shared_hub) as socket:
        socket.send(frame)
        socket.send(login.SerializeToString())
        if isinstance(frame, str):
            assert json.loads(socket.recv(timeout=WAIT_S))["code"] == "credential_missing"
        assert parse("WebsocketMessage", socket.recv(timeout=WAIT_S)).UserLoginResponse.success  # type: ignore[arg-type]
    with opened(shared_hub) as socket:
        for _ in range(5):
            socket.send(frame)
        assert code(socket) == 4401


def test_a_reply_with_a_large_picture_is_taken_of_who_is_known_and_of_nobody_else(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    picture = base64.b64encode(bytes(3_000_000)).decode()
    with Device(hub, token) as device:
        call = Agent(hub, token).ask("q", "What does it look like?")
        content = make("McpResultContent", type=2, image=make("ImageContent", data=picture, mime_type="image/png"))
        request = device.hear("AskQuestion").AskQuestionRequest
        response = make("AskQuestionResponse", ID=request.ID, contents=[content])
        device.send("AskQuestionReply", AskQuestionRequest=request, AskQuestionResponse=response)
        assert call.done().contents[0].image.data == picture
    with opened(hub) as socket, pytest.raises(ConnectionClosed):
        socket.send(bytes(3_000_000))
        socket.recv(timeout=WAIT_S)


def test_what_is_refused_inside_of_a_socket_is_in_the_audit(hub: HubProcess) -> None:
    headers = {"Authorization": f"Bearer {hub.token}"}
    with opened(hub) as socket:
        socket.send(make("WebsocketMessage", Cmd="UserLogin", StrParam="gr_room_canary").SerializeToString())
        assert code(socket) == 4401
    with opened(hub) as socket:
        socket.send(make("WebsocketMessage", Cmd="UserLogin", StrParam=hub.token).SerializeToString())
        assert code(socket) == 4401
    with Device(hub, room_token(hub, "kitchen")) as device:
        device.send("AskQuestionReply", AskQuestionRequest=make("AskQuestionRequest", ID="canary"))
    url = hub.url.replace("http", "ws", 1)
    with connect(f"{url}/ws", additional_headers=headers) as socket:
        socket.send(json.dumps({"type": "agent_cancel", "agentRunId": "canary"}))
        socket.recv(timeout=WAIT_S)
    with connect(f"{url}/agent_backend/ws/s1", additional_headers=headers) as socket:
        reply = {"execution_id": "canary", "approved": True}
        socket.send(json.dumps({"type": "agent_tool_permission_response", "data": reply}))
        assert json.loads(socket.recv(timeout=WAIT_S))["data"]["success"] is False
    with connect(f"{url}/sync", additional_headers=headers) as socket:
        socket.send(json.dumps({"op": "subscribe", "id": 1, "view": "thread", "key": "canary"}))
        assert json.loads(socket.recv(timeout=WAIT_S))["op"] == "error"

    def noted() -> list[tuple[str, str, int]]:
        found = httpx.get(f"{hub.url}/api/audit?limit=1000&type=CallRefused", headers=headers).json()["events"]
        refused = [event["data"]["refused"] for event in found]
        return [(one["action"], one["code"], one["status"]) for one in refused]

    wait_until(lambda: len(noted()) >= 6)
    assert noted() == [
        ("WS /ws UserLogin", "credential_wrong", 401),
        ("WS /ws UserLogin", "not_a_room", 403),
        ("WS /ws AskQuestionReply", "ask_not_found", 404),
        ("WS /ws agent_cancel", "run_not_found", 404),
        ("WS /agent_backend/ws/{session_id} agent_tool_permission_response", "ask_not_found", 404),
        ("WS /sync thread", "thread_not_found", 404),
    ]
    assert "canary" not in httpx.get(f"{hub.url}/api/audit?limit=1000", headers=headers).text


PICTURE = make("McpResultContent", type=2, image=make("ImageContent", data="AAAA", mime_type="image/png"))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("refused", "contents"),
    [
        ("bad_contents", [PICTURE, make("McpResultContent", type=3, audio=make("AudioContent", data="no base64!"))]),
        ("bad_contents", [PICTURE, make("McpResultContent", type=9)]),
        ("too_many_contents", [PICTURE] * 33),
    ],
)
async def test_an_answer_whose_contents_cannot_be_kept_leaves_the_question_open_and_no_file(
    shared_hub: HubProcess, tmp_path: Path, refused: str, contents: list[Any]
) -> None:
    token = room_token(shared_hub, fresh("room").replace(" ", ""))
    with Device(shared_hub, token) as device:
        call = Agent(shared_hub, token).ask("q", "What does it look like?")
        asked = device.hear("AskQuestion")
        device.reply(asked, *contents)
        assert device.valid("q") == {"q": True}
        device.say(asked, "blue")
        assert call.done().contents[0].text.text == "blue"
    blobs = FileBlobs(tmp_path)
    read = [McpResultContent.FromString(content.SerializeToString()) for content in contents]
    with pytest.raises(Refused) as no:
        async with store_files(blobs, read):
            pass
    assert (no.value.code, blobs.names()) == (refused, [])


def test_the_rhythm_of_pings_is_the_one_that_older_clients_know() -> None:
    assert (PING_S, PONG_S) == (54, 60)
    assert frozenset({"/ws", "/people"}) == OLDER_CLIENTS


@pytest.mark.parametrize("token", ["", "test-token", "operator", "viewer"])
def test_a_token_that_opens_no_room_is_told_so_and_sent_away(shared_hub: HubProcess, token: str) -> None:
    if token == "viewer":
        body = {"kind": "viewer", "name": "v"}
        headers = {"Authorization": f"Bearer {shared_hub.token}"}
        token = httpx.post(f"{shared_hub.url}/api/credentials", json=body, headers=headers).json()["token"]
    with opened(shared_hub) as socket:
        login = make("WebsocketMessage", Cmd="UserLogin", StrParam=shared_hub.token if token == "operator" else token)
        socket.send(login.SerializeToString())
        answer = parse("WebsocketMessage", socket.recv(timeout=WAIT_S)).UserLoginResponse  # type: ignore[arg-type]
        assert (answer.success, bool(answer.error_message), answer.client_id) == (False, True, "")
        assert code(socket) == 4401


def test_who_guesses_tokens_is_slowed_down(hub: HubProcess) -> None:
    agent = Agent(hub, "")
    codes = [agent.ask("q", "?", f"gr_room_{number}").http().status_code for number in range(30)]
    assert set(codes) == {401, 429}
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        assert device.login.success, "a right token is not held up"


def test_what_is_no_message_or_no_command_is_passed_over(shared_hub: HubProcess) -> None:
    with Device(shared_hub, room_token(shared_hub, "kitchen"), "one") as device:
        for frame in (b"\xff\xff", "text", b"\x0a\x80\x80\x80\x80\x80\x01"):
            device.socket.send(frame)
        device.send("Nonsense")
        device.send("AskQuestionReply")
        device.send("SendChatMessage")
        assert device.online() == []


def test_a_room_sees_and_answers_nothing_of_another(hub: HubProcess) -> None:
    kitchen, cellar = room_token(hub, "kitchen"), room_token(hub, "cellar")
    with Device(hub, kitchen, "a") as device, Device(hub, cellar, "b") as thief:
        call = Agent(hub, kitchen).ask("q", "Whose?")
        asked = device.hear("AskQuestion")
        operator = {"Authorization": f"Bearer {hub.token}"}
        (ask,) = httpx.get(f"{hub.url}/api/asks", headers=operator).json()["asks"]
        for name in ("q", ask["id"]):
            request = make("AskQuestionRequest", ID=name)
            response = make("AskQuestionResponse", ID=name)
            thief.send("AskQuestionReply", AskQuestionRequest=request, AskQuestionResponse=response)
            assert thief.valid(name) == {name: False}
        assert thief.pending() == []
        device.say(asked, "mine")
        assert call.done().contents[0].text.text == "mine"
        assert thief.online() == []


def test_a_nickname_is_shown_on_one_line_and_proves_nothing(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token, "operator\n\x1b[31m" + "x" * 200) as device, Device(hub, token, "operator") as other:
        (name,) = other.online()
        assert name.startswith("operator") and len(name) == 64 and name.isprintable()
        assert other.id != device.id


def test_leave_is_given_by_people_alone_and_by_one_word(hub: HubProcess) -> None:
    """AP-13: a token that agents ask with too neither sees nor answers what waits for leave."""
    shared, people = room_token(hub, "kitchen"), room_token(hub, "kitchen", "answer")
    operator = {"Authorization": f"Bearer {hub.token}"}
    with Device(hub, shared, "agent") as agent, Device(hub, people, "cook") as cook:
        agent.hear("UserConnectionStatusNotification")
        states = []
        for words in ("sure, why not", "approve"):
            body = {"kind": "gate", "title": "Light the stove?", "room": "kitchen"}
            ask = httpx.post(f"{hub.url}/api/asks", json=body, headers=operator).json()
            asked = cook.hear("AskQuestion")
            assert [option.label for option in asked.AskQuestionRequest.Request.Questions[0].options] == [
                "approve",
                "deny",
            ]
            assert agent.valid(ask["id"]) == {ask["id"]: False}
            agent.say(asked, "approve")
            assert agent.online() == ["cook"]
            cook.say(asked, words)
            assert cook.valid(ask["id"]) == {ask["id"]: False}
            states.append(httpx.get(f"{hub.url}/api/asks/{ask['id']}", headers=operator).json()["answer"]["verdict"])
        assert states == ["deny", "approve"]
