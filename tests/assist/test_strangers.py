"""What may come to `/ws` without a credential, and what it gets: nothing but the chance to log in."""

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.hub_process import HubProcess
from tests.assist.facts import make, parse
from tests.assist.rig import Agent, Device, room_token


def opened(hub: HubProcess) -> connect:
    return connect(hub.url.replace("http", "ws", 1) + "/ws")


def code(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            socket.recv(timeout=30)
    assert closed.value.rcvd is not None
    return int(closed.value.rcvd.code)


@pytest.mark.parametrize("frame", [b"", b"\xff\xff", b"\x0a\x03abc", "{}", "hello"])
def test_a_stranger_whose_first_frame_is_no_login_is_sent_away(shared_hub: HubProcess, frame: bytes | str) -> None:
    with opened(shared_hub) as socket:
        socket.send(frame)
        assert code(socket) == 4401


@pytest.mark.parametrize("token", ["", "test-token", "operator", "viewer"])
def test_a_token_that_opens_no_room_is_told_so_and_sent_away(shared_hub: HubProcess, token: str) -> None:
    if token == "viewer":
        body = {"kind": "viewer", "name": "v"}
        headers = {"Authorization": f"Bearer {shared_hub.token}"}
        token = httpx.post(f"{shared_hub.url}/api/credentials", json=body, headers=headers).json()["token"]
    with opened(shared_hub) as socket:
        login = make("WebsocketMessage", Cmd="UserLogin", StrParam=shared_hub.token if token == "operator" else token)
        socket.send(login.SerializeToString())
        answer = parse("WebsocketMessage", socket.recv(timeout=30)).UserLoginResponse  # type: ignore[arg-type]
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
        assert device.online() == ["one"]


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
        assert thief.online() == ["b"]


def test_a_nickname_is_shown_on_one_line_and_proves_nothing(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token, "operator\n\x1b[31m" + "x" * 200) as device:
        (name,) = device.online()
        assert name.startswith("operator") and len(name) == 64 and name.isprintable()
        with Device(hub, token, "operator") as other:
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
            assert agent.online() == ["agent", "cook"]
            cook.say(asked, words)
            assert cook.valid(ask["id"]) == {ask["id"]: False}
            states.append(httpx.get(f"{hub.url}/api/asks/{ask['id']}", headers=operator).json()["answer"]["verdict"])
        assert states == ["deny", "approve"]
