"""An ask from the first word to the answer: raised, found again, answered once, put off, handed on, taken back."""

import pytest

from greenroom.testing.hub_process import wait_until
from tests.cli.shell import done
from tests.doors.rest.rest_rig import code_of
from tests.rules.asks.desk import Desk, picture


def test_a_question_waits_for_a_person_and_is_answered_once(desk: Desk) -> None:
    asked = desk.ask("Which port?", text="80 or 8080")
    assert (asked["state"], asked["kind"], asked["asker"]["agent_id"]) == ("open", "question", desk.asking.id)
    answered = desk.answer(asked["id"], text="8080").json()
    assert (answered["state"], answered["answer"]["text"]) == ("answered", "8080")
    late = desk.answer(asked["id"], text="80")
    assert code_of(late) == (409, "already_answered")
    assert late.json()["name"] == "operator"
    assert late.json()["at"] == answered["answer"]["at"]
    assert desk.show(asked["id"])["answer"]["text"] == "8080"


def test_the_same_key_finds_the_same_ask_also_after_its_answer(desk: Desk) -> None:
    key = {"Idempotency-Key": "retry-1"}
    first = desk.asking.http.post("/api/asks", json={"title": "Again?"}, headers=key).json()
    assert desk.asking.http.post("/api/asks", json={"title": "Again?"}, headers=key).json()["id"] == first["id"]
    desk.answer(first["id"], text="yes")
    again = desk.asking.http.post("/api/asks", json={"title": "Again?"}, headers=key).json()
    assert (again["id"], again["answer"]["text"]) == (first["id"], "yes")
    other = desk.agent().http.post("/api/asks", json={"title": "Again?"}, headers=key).json()
    assert other["id"] != first["id"]


def test_options_that_were_not_offered_are_refused(desk: Desk) -> None:
    colours = {"question": "Colour?", "options": [{"label": "red"}, {"label": "blue"}], "custom": False}
    asked = desk.ask(questions=[colours, {"question": "Why?"}])
    assert code_of(desk.answer(asked["id"], options=[["green"]])) == (400, "bad_answer")
    assert code_of(desk.answer(asked["id"], options=[["red", "blue"]])) == (400, "bad_answer")
    assert code_of(desk.answer(asked["id"], options=[["red"], ["a"], ["b"]])) == (400, "bad_answer")
    chosen = desk.answer(asked["id"], options=[["red"], ["because"]]).json()
    assert chosen["answer"]["options"] == [["red"], ["because"]]


def test_a_form_is_checked_against_its_schema(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
    asked = desk.ask(form=schema)
    assert code_of(desk.answer(asked["id"], form={"port": "x"})) == (400, "bad_answer")
    assert code_of(desk.answer(asked["id"], text="80")) == (400, "bad_answer")
    assert desk.answer(asked["id"], form={"port": 80}).json()["answer"]["form"] == {"port": 80}


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"type": "object", "properties": {"api_key": {"type": "string"}}}, "secret_asked"),
        ({"type": "string", "format": "password"}, "secret_asked"),
        ({"$ref": "http://127.0.0.1/x"}, "bad_form"),
        ({"type": "string", "pattern": "(a+)+$"}, "bad_form"),
        ({"type": "nonsense"}, "bad_form"),
    ],
)
def test_a_form_that_asks_for_secrets_or_reaches_out_is_refused(desk: Desk, schema: object, code: str) -> None:
    answer = desk.asking.http.post("/api/asks", json={"title": "x", "form": schema})
    assert code_of(answer) == (400, code)


def test_pictures_go_both_ways(desk: Desk) -> None:
    asked = desk.ask(contents=[picture(b"asked")])
    file = asked["contents"][0]["file"]
    assert desk.operator.get(f"/api/asks/{asked['id']}/files/{file}").content == b"asked"
    answered = desk.answer(asked["id"], contents=[picture(b"drawn"), {"text": "see"}]).json()
    drawn = answered["answer"]["contents"][0]["file"]
    shown = desk.operator.get(f"/api/asks/{asked['id']}/files/{drawn}")
    assert (shown.content, shown.headers["content-type"]) == (b"drawn", "image/png")
    assert "sandbox" in shown.headers["content-security-policy"]
    foreign = desk.ask()
    assert code_of(desk.operator.get(f"/api/asks/{foreign['id']}/files/{drawn}")) == (404, "file_not_found")


def test_a_page_in_a_content_is_given_out_without_power(desk: Desk) -> None:
    page = {"type": "resource", "mime": "text/html", "data": picture()["data"]}
    asked = desk.ask(contents=[page])
    shown = desk.operator.get(f"/api/asks/{asked['id']}/files/{asked['contents'][0]['file']}")
    assert shown.headers["content-disposition"] == "attachment"
    assert shown.headers["content-type"] == "application/octet-stream"


def test_silence_refuses_and_is_nobodys_no(desk: Desk) -> None:
    asked = desk.ask(timeout_s=1)
    over = desk.after(asked["id"])
    assert (over["state"], over.get("answer")) == ("expired", None)
    assert code_of(desk.answer(asked["id"], text="late")) == (409, "ask_expired")


def test_a_warning_comes_before_the_deadline(desk: Desk) -> None:
    asked = desk.ask(timeout_s=2)
    assert asked["asked_at"] < asked["warn_at"] < asked["deadline"]
    assert desk.after(asked["id"])["warned"]


def test_a_snoozed_ask_comes_back_by_itself(desk: Desk) -> None:
    asked = desk.ask()
    soon = desk.operator.post(f"/api/asks/{asked['id']}/snooze", json={"for_s": 1}).json()
    assert soon["snoozed_until"] > asked["asked_at"]
    wait_until(lambda: "snoozed_until" not in desk.show(asked["id"]))
    beyond = desk.operator.post(f"/api/asks/{asked['id']}/snooze", json={"for_s": 86_400})
    assert code_of(beyond) == (400, "bad_time")


def test_an_ask_handed_to_a_room_is_seen_there(desk: Desk) -> None:
    asked = desk.ask()
    person = desk.room("kitchen")
    assert code_of(person.get(f"/api/asks/{asked['id']}")) == (404, "ask_not_found")
    desk.operator.post(f"/api/asks/{asked['id']}/delegate", json={"to": "room:kitchen"})
    assert [ask["id"] for ask in desk.waiting(person)] == [asked["id"]]
    assert desk.answer(asked["id"], person, text="here", name="Ann").json()["answer"]["name"] == "Ann"


def test_an_ask_handed_to_a_person_is_seen_by_them_and_by_nobody_else_of_their_room(desk: Desk) -> None:
    asked = desk.ask()
    ann, other = (desk.bearer(kind="room", room="attic", rights=["answer"], name=name) for name in ("Ann", "Zoe"))
    desk.operator.post(f"/api/asks/{asked['id']}/delegate", json={"to": "Ann"}).raise_for_status()
    assert [ask["id"] for ask in desk.waiting(ann)] == [asked["id"]]
    assert code_of(other.get(f"/api/asks/{asked['id']}")) == (404, "ask_not_found")
    assert "handed to  Ann" in done(desk.hub.data, "ask", "show", asked["id"]).out
    inside = desk.ask(by=desk.operator, kind="question", room="cellar")
    person = desk.room("cellar")
    beyond = person.post(f"/api/asks/{inside['id']}/delegate", json={"to": "Ann"})
    assert code_of(beyond) == (403, "forbidden")
    person.post(f"/api/asks/{inside['id']}/delegate", json={"to": "Cy, who is downstairs"}).raise_for_status()
    assert desk.answer(asked["id"], ann, text="mine").json()["answer"]["by"] != ""


def test_several_people_are_needed_where_several_are_asked(desk: Desk) -> None:
    gate = desk.gate(approvers=2)
    other = desk.bearer(kind="operator")
    assert desk.answer(gate["id"], verdict="approve").json()["state"] == "open"
    assert code_of(desk.answer(gate["id"], verdict="approve")) == (409, "already_approved")
    both = desk.answer(gate["id"], other, verdict="approve").json()
    assert (both["state"], len(both["approvals"])) == ("answered", 2)


def test_one_no_is_enough_where_several_are_asked(desk: Desk) -> None:
    gate = desk.gate(approvers=3)
    desk.answer(gate["id"], verdict="approve")
    denied = desk.answer(gate["id"], desk.bearer(kind="operator"), verdict="deny", text="not so").json()
    assert (denied["state"], denied["answer"]["verdict"]) == ("answered", "deny")


def test_who_asked_takes_an_ask_back_and_a_late_answer_is_told_so(desk: Desk) -> None:
    asked = desk.ask()
    foreign = desk.agent().http.post(f"/api/asks/{asked['id']}/withdraw", json={})
    assert code_of(foreign) == (404, "ask_not_found")
    gone = desk.asking.http.post(f"/api/asks/{asked['id']}/withdraw", json={"reason": "found it"}).json()
    assert (gone["state"], gone["reason"]) == ("withdrawn", "found it")
    assert code_of(desk.answer(asked["id"], text="late")) == (409, "ask_withdrawn")


def test_many_are_answered_at_once_by_their_ids(desk: Desk) -> None:
    first, second = desk.ask(), desk.ask()
    desk.answer(second["id"], text="quicker")
    batch = [{"ask_id": one, "verdict": "answer", "text": "all"} for one in (first["id"], second["id"], "ask_none")]
    results = desk.operator.post("/api/asks/answers", json={"answers": batch}).json()["results"]
    assert [(one["ok"], one.get("code")) for one in results] == [
        (True, None),
        (False, "already_answered"),
        (False, "ask_not_found"),
    ]
    assert results[1]["name"] == "operator"


def test_lists_are_paged_by_seq_and_filtered(desk: Desk) -> None:
    agent = desk.agent()
    made = [desk.ask(by=agent)["id"] for _ in range(5)]
    seen, after = [], 0
    for _ in range(5):
        page = desk.operator.get("/api/asks", params={"agent_id": agent.id, "after": after, "limit": 2}).json()
        seen += [ask["id"] for ask in page["asks"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert seen == made
    newest = desk.waiting(state="all", before=2**50, limit=3)
    assert [ask["id"] for ask in newest] == made[:1:-1]
    assert not desk.waiting(agent_id=agent.id, kind="gate")


def test_a_list_of_all_shows_each_ask_as_it_is_shown_alone(desk: Desk) -> None:
    agent = desk.agent()
    made = [desk.ask(by=agent)["id"] for _ in range(5)]
    shown = [desk.operator.get(f"/api/asks/{ask_id}").json() for ask_id in made]
    before = shown[0]["seq"] - 1  # other tests ask on this hub too
    first = desk.operator.get("/api/asks", params={"after": before, "limit": 3}).json()
    rest = desk.operator.get("/api/asks", params={"after": first["next"], "limit": 3}).json()
    assert [*first["asks"], *rest["asks"]] == shown
    assert (first["next"], rest["next"]) == (shown[2]["seq"], None)
    assert desk.waiting(before=shown[2]["seq"], limit=2) == shown[1::-1]
    assert desk.waiting(state="answered", after=before) == []


def test_one_agent_cannot_bury_the_others(desk: Desk) -> None:
    agent = desk.agent()
    answers = [agent.http.post("/api/asks", json={"title": f"{n}"}) for n in range(51)]
    assert [a.status_code for a in answers[:50]] == [201] * 50
    assert code_of(answers[50]) == (429, "too_many_asks")
    assert desk.ask(by=desk.agent())["state"] == "open"
