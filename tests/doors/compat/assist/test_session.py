"""A whole session: two devices in one room and one in another, agents that ask, and everything people say."""

import base64

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.compat.assist.facts import FACTS, classes, make, text
from tests.doors.compat.assist.rig import Agent, Device, room_token


def test_every_field_has_the_number_that_clients_in_the_field_have() -> None:
    for line in FACTS.strip().splitlines():
        name, *rest = line.split()
        wanted = {field: int(number) for number, field in zip(rest[::2], rest[1::2], strict=True)}
        assert {field.name: field.number for field in classes()[name].DESCRIPTOR.fields} == wanted


def test_two_devices_of_a_room_and_one_of_another_live_through_a_session(hub: HubProcess) -> None:
    kitchen, cellar = room_token(hub, "kitchen"), room_token(hub, "cellar")
    cook = Agent(hub, kitchen)
    with Device(hub, kitchen, "phone") as phone, Device(hub, cellar, "lamp") as lamp:
        assert phone.login.success
        with Device(hub, kitchen, "desk") as desk:
            joined = phone.hear("UserConnectionStatusNotification").UserConnectionStatusNotification
            assert (joined.user.nickname, joined.user.client_id, joined.status) == ("desk", desk.id, "connected")
            assert (desk.online(), phone.online(), lamp.online()) == (["phone"], ["desk"], [])

            call = cook.ask("q-1", "Salt or pepper?", AgentName="cook", Timeout=120, McpClientName="stove")
            at_phone, at_desk = phone.hear("AskQuestion"), desk.hear("AskQuestion")
            asked = at_phone.AskQuestionRequest
            assert (asked.ID, asked.Request.Question, asked.Request.AgentName) == ("q-1", "Salt or pepper?", "cook")
            assert (asked.Request.Timeout, asked.Request.ProjectDirectory) == (120, "/src/app")
            assert (asked.UserToken, asked.Request.McpClientName) == ("", "stove")
            assert desk.valid("q-1", "q-2") == {"q-1": True, "q-2": False}
            assert lamp.valid("q-1") == {"q-1": False}

            phone.say(at_phone, "pepper")
            assert call.done().contents[0].text.text == "pepper"
            told = desk.hear("AskQuestionReplyNotification")
            assert told.StrParam == f"Response received from client {phone.id} (phone)"
            assert told.Nickname == "phone"
            assert (told.AskQuestionRequest.ID, told.AskQuestionResponse.contents[0].text.text) == ("q-1", "pepper")
            desk.say(at_desk, "salt")
            assert desk.valid("q-1") == {"q-1": False}

            desk.send("SendChatMessage", SendChatMessageRequest=make(
                "SendChatMessageRequest", receiver_client_id=phone.id, content="soup is on"))  # fmt: skip
            word = phone.hear("ChatMessageNotification").ChatMessageNotification.chat_message
            assert (word.content, word.sender_client_id, word.sender_nickname) == ("soup is on", desk.id, "desk")
            assert (word.receiver_client_id, word.receiver_nickname, bool(word.message_id)) == (phone.id, "phone", True)
            desk.send("SendChatMessage", SendChatMessageRequest=make(
                "SendChatMessageRequest", receiver_client_id=lamp.id, content="psst"))  # fmt: skip
            assert desk.online() == ["phone"]
        left = phone.hear("UserConnectionStatusNotification").UserConnectionStatusNotification
        assert (left.user.client_id, left.status) == (desk.id, "disconnected")
        assert phone.online() == lamp.online() == []


def test_whoever_comes_back_finds_what_is_pending(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    cook = Agent(hub, token)
    with Device(hub, token, "early") as early:
        first = cook.ask("q-1", "Anybody?")
        early.hear("AskQuestion")
        second = cook.report("r-1", "The soup is done.")
        early.hear("WorkReport")
    with Device(hub, token, "late") as late:
        assert late.hear("AskQuestion").AskQuestionRequest.ID == "q-1"
        assert late.hear("WorkReport").WorkReportRequest.ID == "r-1"
        waiting = {one.ask_question_request.ID or one.work_report_request.ID: one for one in late.pending()}
        assert set(waiting) == {"q-1", "r-1"}
        assert waiting["q-1"].message_type == "AskQuestion"
        assert (waiting["r-1"].message_type, waiting["r-1"].timeout) == ("WorkReport", 600)
        assert waiting["r-1"].work_report_request.Request.Summary == "The soup is done."
    with Device(hub, token, "again") as again:
        again.hear("AskQuestion")
        again.hear("WorkReport")
        question = make("WebsocketMessage", Cmd="AskQuestion", AskQuestionRequest=waiting["q-1"].ask_question_request)
        again.say(question, "yes")
        assert first.done().contents[0].text.text == "yes"
        report = make("WebsocketMessage", Cmd="WorkReport", WorkReportRequest=waiting["r-1"].work_report_request)
        again.reply(report, text("well done"))
        assert second.done().contents[0].text.text == "well done"
        assert again.pending() == []


@pytest.mark.parametrize("rpc", ["TaskFinish", "WorkReport"])
def test_devices_of_both_families_are_shown_a_report_and_one_that_has_replied_only_its_own(
    hub: HubProcess, rpc: str
) -> None:
    token = room_token(hub, "kitchen")
    cook = Agent(hub, token)
    with Device(hub, token, "old", "TaskFinish") as old, Device(hub, token, "new") as new:
        old.hear("UserConnectionStatusNotification")
        call = cook.report("r-1", "Done.", rpc=rpc)
        shown = new.hear("WorkReport")
        old.say(old.hear("TaskFinish"), "thanks")
        assert call.done().contents[0].text.text == "thanks"
        told = new.hear("WorkReportReplyNotification")
        assert (told.Nickname, told.WorkReportRequest.ID) == ("old", shown.WorkReportRequest.ID)
        new.online()  # what was sent before is read
        old._unknown = new._unknown = "none of them"
        call = cook.report("r-2", "Done again.", rpc=rpc)
        assert [new.next().Cmd, new.next().Cmd] == ["WorkReport", "TaskFinish"]
        old.say(old.hear("TaskFinish"), "thanks")
        assert not call.done().IsError
        assert [new.next().Cmd, new.next().Cmd] == ["WorkReportReplyNotification", "TaskFinishReplyNotification"]
        assert old.online() == ["new"], "it is sent its own family alone"


def test_an_older_device_that_has_replied_finds_reports_under_its_own_name(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    cook = Agent(hub, token)
    with Device(hub, token, "old", "TaskFinish") as old:
        first = cook.report("r-1", "Done.")
        old.say(old.hear("TaskFinish"), "thanks")
        assert not first.done().IsError
        second = cook.report("r-2", "Done again.")
        shown = old.hear("TaskFinish")
        assert [one.message_type for one in old.pending()] == ["TaskFinish"]
        old.say(shown, "thanks")
        assert not second.done().IsError
        cook.timeout_s = 0.5
        cook.report("r-3", "Gone.")
        old.hear("TaskFinish")
        gone = old.hear("RequestCancelled").RequestCancelledNotification
        assert (gone.request_id, gone.message_type) == ("r-3", "TaskFinish")


def test_a_second_login_changes_the_nickname_for_everybody(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token, "phone") as phone, Device(hub, token, "desk") as desk:
        phone.hear("UserConnectionStatusNotification")
        phone.send("UserLogin", StrParam=token, Nickname="cook's phone")
        assert phone.hear("UserLogin").UserLoginResponse.client_id == phone.id
        renamed = desk.hear("UserConnectionStatusNotification").UserConnectionStatusNotification
        assert (renamed.user.client_id, renamed.user.nickname, renamed.status) == (
            phone.id,
            "cook's phone",
            "connected",
        )
        assert desk.online() == ["cook's phone"]
        call = Agent(hub, token).ask("q", "Which?")
        phone.say(phone.hear("AskQuestion"), "this")
        desk.hear("AskQuestion")
        assert desk.hear("AskQuestionReplyNotification").Nickname == "cook's phone"
        assert call.done().contents[0].text.text == "this"


def test_when_two_devices_answer_at_once_every_device_is_told_the_true_winner(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    cook = Agent(hub, token)
    winners = set()
    with Device(hub, token, "a") as a, Device(hub, token, "b") as b, Device(hub, token, "c", "TaskFinish") as c:
        for device, joined in ((a, 2), (b, 1)):
            for _ in range(joined):
                device.hear("UserConnectionStatusNotification")
        for number in range(200):
            call = cook.ask(f"q-{number}", "Who?")
            asked = {device: device.hear("AskQuestion") for device in (a, b, c)}
            first, second = (a, b) if number % 2 else (b, a)
            first.say(asked[first], first.id)
            second.say(asked[second], second.id)
            winner = call.done().contents[0].text.text
            winners.add(winner)
            for device in (a, b, c):
                if device.id != winner:
                    told = device.hear("AskQuestionReplyNotification")
                    assert told.AskQuestionResponse.contents[0].text.text == winner
                    assert f"client {winner} " in told.StrParam
                    assert told.Nickname == {a.id: "a", b.id: "b"}[winner]
    assert winners == {a.id, b.id}


@pytest.mark.parametrize("family", ["TaskFinish", "WorkReport"])
def test_a_report_comes_in_the_family_that_the_client_knows(hub: HubProcess, family: str) -> None:
    token = room_token(hub, "kitchen")
    cook = Agent(hub, token)
    other = "WorkReport" if family == "TaskFinish" else "TaskFinish"
    with Device(hub, token, "a", family) as one, Device(hub, token, "b", family) as two:
        one.hear("UserConnectionStatusNotification")
        call = cook.report("r-1", "Done.", rpc=family)
        asked = one.hear(family)
        two.hear(family)
        one.say(asked, "thanks")
        assert call.done().contents[0].text.text == "thanks"
        assert two.hear(f"{family}ReplyNotification").StrParam.startswith("Task completion confirmed by client ")
        call = cook.report("r-2", "Done again.", rpc=other)
        one.say(one.hear(family), "thanks")
        assert not call.done().IsError


def test_pictures_sounds_and_files_reach_the_agent(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        call = Agent(hub, token).ask("q", "Show me.")
        data = base64.b64encode(b"\x89PNG...").decode()
        image = make("ImageContent", type="image", data=data, mime_type="image/png")
        sound = make("AudioContent", type="audio", data=data, mime_type="audio/wav")
        held = make("EmbeddedResource", type="resource", uri="file:///a.pdf", mime_type="application/pdf", data=b"%PDF")
        asked = device.hear("AskQuestion")
        device.reply(
            asked,
            text("look"),
            make("McpResultContent", type=2, image=image),
            make("McpResultContent", type=3, audio=sound),
            make("McpResultContent", type=4, embedded_resource=held),
        )
        words, seen, heard, file = call.done().contents
    assert (words.type, words.text.text) == (1, "look")
    assert (seen.type, seen.image.data, seen.image.mime_type) == (2, data, "image/png")
    assert (heard.type, heard.audio.data, heard.audio.mime_type) == (3, data, "audio/wav")
    assert (file.type, file.embedded_resource.data, file.embedded_resource.uri) == (4, b"%PDF", "file:///a.pdf")


def test_an_error_of_a_person_is_an_error_for_the_agent(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        call = Agent(hub, token).ask("q", "May I?")
        device.reply(device.hear("AskQuestion"), text("no"), is_error=True)
        done = call.done()
    assert (done.IsError, done.Meta["error"], done.contents[0].text.text) == (True, "cancelled", "no")


def test_an_answer_given_elsewhere_is_told_to_the_devices(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with Device(hub, token) as device:
        call = Agent(hub, token).ask("q", "Which?")
        device.hear("AskQuestion")
        operator = {"Authorization": f"Bearer {hub.token}"}
        (ask,) = call_api(hub, "GET", "/api/asks", operator)["asks"]
        call_api(hub, "POST", f"/api/asks/{ask['id']}/answer", operator, {"verdict": "answer", "text": "that one"})
        assert device.hear("AskQuestionReplyNotification").StrParam == "Response received from operator"
        assert call.done().contents[0].text.text == "that one"


def call_api(hub: HubProcess, method: str, path: str, headers: dict[str, str], body: object = None) -> dict:  # type: ignore[type-arg]
    import httpx

    answer = httpx.request(method, hub.url + path, headers=headers, json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()  # type: ignore[no-any-return]
