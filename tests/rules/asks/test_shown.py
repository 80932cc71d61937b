"""A yes is to what was shown: it names the digest, and high risk is approved alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.shell import done, greenroom
from tests.conftest import staged
from tests.doors.compat.assist.rig import Device, room_token
from tests.stage import Stage

Json = dict[str, Any]


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from staged(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(shared_stage: Stage) -> Iterator[Stage]:
    yield shared_stage
    with Stage(shared_stage.hub) as after:
        after.tidy()


def waiting(stage: Stage, *commands: str) -> list[Json]:
    """The asks of calls that wait, one for each command."""
    for command in commands:
        stage.start(f"SHELL {command}\nSAY done")

    def found() -> list[Json] | None:
        asks: list[Json] = stage.api.get("/api/asks").json()["asks"]
        return asks if len(asks) == len(commands) else None

    asks = stage.until(found, "all to ask")
    return [next(ask for ask in asks if command in str(ask["subject"])) for command in commands]


def state(stage: Stage, ask: Json) -> str:
    return str(stage.api.get(f"/api/asks/{ask['id']}").json()["state"])


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", answer.json().get("state"))


def test_a_yes_to_a_call_names_what_was_shown_and_a_no_needs_not(stage: Stage) -> None:
    first, second = waiting(stage, "touch one", "touch two")
    path = f"/api/asks/{first['id']}/answer"
    blind = stage.api.post(path, json={"verdict": "approve"})
    assert said(blind) == (400, "digest_needed")
    assert "Reload the page" in blind.json()["detail"]
    assert said(stage.api.post(path, json={"verdict": "approve", "digest": second["digest"]})) == (409, "changed")
    batch = {"answers": [{"ask_id": first["id"], "verdict": "approve"}, {"ask_id": second["id"], "verdict": "deny"}]}
    results = stage.api.post("/api/asks/answers", json=batch).json()["results"]
    assert [(one["ok"], one.get("code")) for one in results] == [(False, "digest_needed"), (True, None)]
    assert state(stage, first) == "open"
    assert said(stage.api.post(path, json={"verdict": "approve", "digest": first["digest"]})) == (200, "answered")


def test_high_risk_is_approved_alone_and_refused_together_with_others(stage: Stage, tmp_path: Path) -> None:
    plain, risky = waiting(stage, "touch one", f"touch {tmp_path}/far")
    assert (plain["risk"], risky["risk"]) == ("medium", "high")
    yes = [{"ask_id": one["id"], "verdict": "approve", "digest": one["digest"]} for one in (plain, risky)]
    results = stage.api.post("/api/asks/answers", json={"answers": yes}).json()["results"]
    assert [(one["ok"], one.get("code")) for one in results] == [(True, None), (False, "high_risk")]
    assert risky["id"] in results[1]["message"]
    alone = stage.api.post("/api/asks/answers", json={"answers": yes[1:]}).json()["results"]
    assert alone[0]["code"] == "high_risk"
    assert not (tmp_path / "far").exists()
    assert stage.decide(risky["id"], "approve").status_code == 200
    stage.until((tmp_path / "far").exists, "it to run")
    denied = waiting(stage, f"touch {tmp_path}/other")
    no = [{"ask_id": one["id"], "verdict": "deny"} for one in denied]
    assert stage.api.post("/api/asks/answers", json={"answers": no}).json()["results"][0]["ok"]


def test_the_command_line_shows_what_it_approves_and_names_what_must_go_alone(stage: Stage, tmp_path: Path) -> None:
    plain, risky = waiting(stage, "touch one", f"touch {tmp_path}/far")
    both = greenroom(stage.hub.data, "ask", "approve", plain["id"], risky["id"])
    assert both.code == 1
    assert f"touch {tmp_path}/far" in both.err
    assert f"open {risky['id']} and answer it alone" in both.err
    assert (state(stage, plain), state(stage, risky)) == ("answered", "open")
    stale = greenroom(stage.hub.data, "ask", "approve", risky["id"], "--digest", plain["digest"])
    assert (stale.code, state(stage, risky)) == (1, "open")
    unseen = greenroom(stage.hub.data, "ask", "approve", risky["id"], stdin="approve\n")
    assert (unseen.code, "nobody is here to look at it" in unseen.err, state(stage, risky)) == (1, True, "open")
    alone = done(stage.hub.data, "ask", "approve", risky["id"], "--yes", "--json")
    assert alone.json == [{"ask_id": risky["id"], "ok": True, "state": "answered", "message": ""}]
    assert f'"touch {tmp_path}/far"' in alone.err


def test_a_device_is_sent_what_waits_and_its_yes_holds_for_that(stage: Stage) -> None:
    (asked,) = waiting(stage, "touch one")
    token = room_token(stage.hub, "kitchen", "answer")
    stage.api.post(f"/api/asks/{asked['id']}/delegate", json={"to": "room:kitchen"})
    with Device(stage.hub, token) as other, Device(stage.hub, token) as device:
        sent = device.hear("AskQuestion")
        device.say(sent, "approve")
        assert [other.next().Cmd for _ in range(3)][-1] == "AskQuestionReplyNotification"
        assert state(stage, asked) == "answered"
