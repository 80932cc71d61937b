"""The asking side: RPCs in JSON and in protobuf, repeated, timed out, cancelled, and over a crash of the hub."""

import httpx
import pytest

from greenroom.sentences import build_sentence
from greenroom.testing.hub_process import HubProcess
from tests.doors.compat.assist.facts import make
from tests.doors.compat.assist.rig import SERVICE, Agent, Call, Device, room_token


def test_json_asks_with_options_and_gets_the_answer(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    options = [{"label": "red", "description": "like a rose"}, {"label": "blue"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options, "multiple": True}
    request = {"ProjectDirectory": "/src", "Questions": [question], "Timeout": 30, "ReasoningModelName": "m1"}
    agent = Agent(hub, token)
    with Device(hub, token) as device:
        body = {"ID": "j-1", "UserToken": token, "Request": request, "Timestamp": "1"}
        call = Call(lambda: agent.json("AskQuestion", body), "AskQuestionResponse")
        asked = device.hear("AskQuestion")
        info = asked.AskQuestionRequest.Request
        assert (info.Question, info.ReasoningModelName) == ("Which colour?", "m1")
        assert [option.label for option in info.Questions[0].options] == ["red", "blue"]
        assert (info.Questions[0].header, info.Questions[0].multiple) == ("Colour", True)
        device.say(asked, "red, blue")
    answer = call.http()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {"ID": "j-1", "contents": [{"type": 1, "text": {"type": "text", "text": "red, blue"}}]}
    info = {"ID": "i", "UserToken": token, "Request": {"ClientName": "stove", "ClientVersion": "1"}}
    assert agent.json("SendMcpClientInfo", info).json() == {"Success": True}


def test_the_same_id_is_the_same_question_and_has_the_same_answer(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    agent = Agent(hub, token)
    with Device(hub, token) as device:
        calls = [agent.ask("q", "Once?"), agent.ask("q", "Once?")]
        device.say(device.hear("AskQuestion"), "once")
        assert [call.done().contents[0].text.text for call in calls] == ["once", "once"]
        assert agent.ask("q", "Once?").done().contents[0].text.text == "once"
        assert device.online() == []  # and no second question has come before it


def test_silence_is_an_error_that_says_so(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        done = Agent(hub, token).ask("q", "Anybody?", Timeout=1).done()
        assert (done.IsError, done.Meta["error"]) == (True, "timeout")
        device.hear("AskQuestion")
        notice = device.hear("RequestCancelled").RequestCancelledNotification
        assert (notice.request_id, notice.reason, notice.message_type) == ("q", "timeout", "AskQuestion")
        assert device.valid("q") == {"q": False}


def test_an_agent_that_hangs_up_takes_its_question_back(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        agent = Agent(hub, token)
        agent.timeout_s = 0.5
        agent.report("r", "Done?")
        device.hear("WorkReport")
        notice = device.hear("RequestCancelled").RequestCancelledNotification
        assert (notice.request_id, notice.message_type) == ("r", "WorkReport")
        done = Agent(hub, token).report("r", "Done?").done()
        assert (done.IsError, done.Meta["error"]) == (True, "cancelled")


@pytest.mark.parametrize(("id", "question"), [("", "What?"), ("q", ""), ("x" * 300, "What?")])
def test_a_request_that_lacks_something_is_answered_with_the_error(
    shared_hub: HubProcess, id: str, question: str
) -> None:
    done = Agent(shared_hub, room_token(shared_hub, "kitchen")).ask(id, question).done()
    assert (done.IsError, done.Meta["error"]) == (True, "invalid_request")


def test_a_token_that_is_wrong_or_for_people_only_asks_nothing(hub: HubProcess) -> None:
    people, asker = room_token(hub, "kitchen", "answer"), room_token(hub, "kitchen", "ask")
    agent = Agent(hub, asker)
    assert [agent.ask("q", "?", token).http().status_code for token in ("", "test-token", hub.token, people)] == [
        401,
        401,
        403,
        403,
    ]
    with Device(hub, people) as device:
        call = agent.ask("q", "Is it me?")
        device.say(device.hear("AskQuestion"), "yes")
        assert not call.done().IsError
    with Device(hub, asker) as none:
        assert not none.login.success


def test_a_body_that_is_no_message_is_refused(shared_hub: HubProcess) -> None:
    for kind, body in (("application/proto", b"\xff\xff\xff"), ("application/json", b"{"), ("text/plain", b"x")):
        answer = httpx.post(f"{shared_hub.url}{SERVICE}/AskQuestion", content=body, headers={"content-type": kind})
        assert answer.status_code in (400, 415), answer.text
    big = make("AskQuestionRequest", ID="q", UserToken="x" * 1_100_000).SerializeToString()
    answer = httpx.post(
        f"{shared_hub.url}{SERVICE}/AskQuestion", content=big, headers={"content-type": "application/proto"}
    )
    assert answer.status_code == 413


def test_a_question_outlives_the_hub_and_the_agent_finds_it_again(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        Agent(hub, token).ask("q", "Still there?")
        device.hear("AskQuestion")
        hub.kill()
    port = hub.port
    hub.start(port)
    call = Agent(hub, token).ask("q", "Still there?")
    with Device(hub, token) as device:
        assert device.hear("AskQuestion").AskQuestionRequest.ID == "q"
        (waiting,) = device.pending()
        assert waiting.ask_question_request.ID == "q"
        question = make("WebsocketMessage", Cmd="AskQuestion", AskQuestionRequest=waiting.ask_question_request)
        device.say(question, "still here")
    assert call.done().contents[0].text.text == "still here"


def test_a_revoked_token_ends_the_wait_and_the_connection(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    headers = {"Authorization": f"Bearer {hub.token}"}
    with httpx.Client(base_url=hub.url, headers=headers) as operator, Device(hub, token) as device:
        call = Agent(hub, token).ask("q", "?")
        device.hear("AskQuestion")
        (mine,) = [one["id"] for one in operator.get("/api/credentials").json() if one["kind"] == "room"]
        operator.delete(f"/api/credentials/{mine}")
        ended = call.http()
        assert (ended.status_code, ended.json()["message"]) == (503, str(build_sentence("wait_ended")))
        assert device.closed() == 4401
    assert Agent(hub, token).ask("q", "?").http().status_code == 401
