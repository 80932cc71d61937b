"""Steps on which several named people have a say."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from greenroom.testing.browser_login import log_in
from greenroom.testing.timeouts import WAIT_S
from tests.rules.workflows.plays import Json, Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
LEVEL = {"kind": "arbitrated", "stakeholders": ["ann", "bob", "room:legal"], "quorum": 2}


class People:
    """Clients with credentials of their own, by name."""

    def __init__(self, stage: Stage, stack: ExitStack) -> None:
        self._stage = stage
        self._stack = stack

    def come(self, name: str, **wanted: object) -> httpx.Client:
        body = {"kind": "operator", "name": name, **wanted}
        token = self._stage.api.post("/api/credentials", json=body).raise_for_status().json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        return self._stack.enter_context(httpx.Client(base_url=self._stage.hub.url, headers=headers, timeout=WAIT_S))


@pytest.fixture
def people(stage: Stage) -> Iterator[People]:
    with ExitStack() as stack:
        yield People(stage, stack)


def say(who: httpx.Client, ask: str, verdict: str, **fields: object) -> httpx.Response:
    return who.post(f"/api/asks/{ask}/answer", json={"verdict": verdict, **fields})


def asked(stage: Stage, level: Json, name: str) -> tuple[Play, str, str]:
    play = Play(stage)
    run_id = play.start({"id": "gate", "level": level}, name=name)
    return play, run_id, play.ask_of(run_id, "gate")


def test_two_of_three_who_are_named_say_yes_and_it_goes_on(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, LEVEL, "two of three")
    ann, legal = people.come("ann"), people.come("eve", kind="room", room="legal", rights=["answer"])
    assert say(ann, ask, "approve").json()["state"] == "open"
    again = say(people.come("ann"), ask, "approve")
    assert (again.status_code, again.json()["code"]) == (409, "already_approved"), "another token of hers"
    found = legal.get("/api/asks").json()["asks"]
    assert [one["id"] for one in found] == [ask], "a room that is asked sees it"
    assert say(legal, ask, "approve").json()["state"] == "answered"
    run = play.end(run_id)
    assert run["status"] == "completed"
    assert [one["seat"] for one in stage.api.get(f"/api/asks/{ask}").json()["approvals"]] == ["ann", "room:legal"]


def test_who_is_not_named_is_told_who_is(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, LEVEL, "not named")
    refused = say(stage.api, ask, "approve", name="ann")
    assert refused.status_code == 403
    error = refused.json()
    assert error["code"] == "not_asked"
    assert "This ask is for ann, bob, room:legal" in error["detail"]
    assert "token create --kind operator --name" in error["detail"]
    other = people.come("mallory", kind="room", room="other", rights=["answer"])
    assert say(other, ask, "approve").status_code == 404, "another room's people find nothing"
    assert stage.api.get(f"/api/asks/{ask}").json()["state"] == "open"
    play.control(run_id, "abort")


def test_names_that_nobody_has_are_told_of(stage: Stage, people: People) -> None:
    people.come("ann")
    play, run_id, ask = asked(stage, {**LEVEL, "stakeholders": ["ann", "nobody-yet"]}, "strangers")
    shown = stage.api.get(f"/api/asks/{ask}").json()["text"]
    assert "Nobody is called nobody-yet here yet" in shown
    play.control(run_id, "abort")


def test_where_one_yes_is_enough_one_no_decides(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, {"kind": "recommended", "stakeholders": ["ann", "bob"]}, "objection")
    assert say(people.come("bob"), ask, "deny", text="not now").json()["state"] == "answered"
    assert "not now" in play.end(run_id)["error"]


def test_words_alone_let_no_step_go_on(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, {"kind": "recommended", "stakeholders": ["ann"]}, "words")
    ann = people.come("ann")
    assert say(ann, ask, "answer", text="no, not tonight").json()["code"] == "bad_answer"
    assert say(ann, ask, "deny", text="no, not tonight").json()["state"] == "answered"
    assert "not tonight" in play.end(run_id)["error"]


def test_a_no_that_can_be_outvoted_does_not_decide(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, LEVEL, "outvoted")
    ann, bob = people.come("ann"), people.come("bob")
    assert say(ann, ask, "deny", text="too early").json()["state"] == "open"
    assert say(ann, ask, "deny").json()["code"] == "already_denied"
    assert say(bob, ask, "approve").json()["state"] == "open"
    assert say(ann, ask, "approve").json()["state"] == "answered", "she has changed her mind"
    assert play.end(run_id)["status"] == "completed"


def test_as_soon_as_too_few_are_left_to_agree_it_is_refused(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, LEVEL, "refused")
    say(people.come("ann"), ask, "deny")
    assert say(people.come("bob"), ask, "deny").json()["state"] == "answered"
    run = play.end(run_id)
    assert run["status"] == "failed"
    assert "ann and bob denied" in run["error"]


def test_a_confirmed_step_can_name_the_one_who_confirms(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, {"kind": "confirmed", "stakeholders": ["ann"]}, "the one")
    assert say(people.come("bob"), ask, "approve").json()["code"] == "not_asked"
    assert say(people.come("ann"), ask, "approve").status_code == 200
    assert play.end(run_id)["status"] == "completed"


def test_a_browser_that_somebody_lets_in_votes_as_that_person(stage: Stage, people: People) -> None:
    play, run_id, ask = asked(stage, {"kind": "confirmed", "stakeholders": ["ann"]}, "browser")
    code = people.come("ann").post("/api/login-codes").json()["code"]
    with httpx.Client(base_url=stage.hub.url, headers={"Origin": stage.hub.url}, timeout=WAIT_S) as browser:
        log_in(browser, code)
        assert say(browser, ask, "approve").status_code == 200
    assert play.end(run_id)["status"] == "completed"
