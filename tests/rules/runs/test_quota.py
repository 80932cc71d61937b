"""An account that is used up: the run waits for it and goes on, and nothing of it is lost."""

import pytest

from tests.cli.shell import done
from tests.stage import Stage

_LONG = 3600


def parked(stage: Stage, run_id: str) -> dict[str, object]:
    """The run, once it waits for its account."""
    return dict(stage.until(lambda: (run := stage.run(run_id))["status"] == "waiting" and run, "it to wait"))


@pytest.mark.one_stage
def test_a_run_goes_on_by_itself_when_its_account_can_be_used_again(stage: Stage) -> None:
    run_id = stage.start("SAY first\nQUOTA 4\nSAY second")
    run = parked(stage, run_id)
    assert str(run["waiting_for"]).startswith("limit: the account that it works with is used up until 20")
    assert run["goes_on_at"]
    assert stage.api.get("/api/asks", params={"run_id": run_id}).json()["asks"] == []
    ended = stage.end(run_id)
    assert (ended["status"], ended["output"], ended.get("goes_on_at", 0)) == ("completed", "first\nsecond", 0)
    assert ended["session"] == run["session"]
    assert "turn_used_up" in [item["kind"] for item in stage.items(run_id)]


@pytest.mark.one_stage
def test_its_own_time_stands_still_while_it_waits(stage: Stage) -> None:
    run_id = stage.start(f"QUOTA {_LONG}", timeout_s=60)
    run = parked(stage, run_id)
    assert int(str(run["deadline"])) > int(str(run["goes_on_at"]))


@pytest.mark.one_stage
def test_a_person_may_let_it_try_at_once_or_end_it(stage: Stage) -> None:
    tried, ended = stage.start(f"QUOTA {_LONG}"), stage.start(f"QUOTA {_LONG}")
    parked(stage, tried)
    parked(stage, ended)
    assert stage.api.post(f"/api/runs/{tried}/extend", json={}).status_code == 200
    assert stage.end(tried)["status"] == "completed"
    stage.api.post(f"/api/runs/{ended}/cancel", json={})
    assert stage.end(ended)["status"] == "cancelled"


@pytest.mark.one_stage
def test_who_waits_at_a_limit_is_told_nothing_before_it_may_go_on(stage: Stage) -> None:
    run_id = stage.start(f"QUOTA {_LONG}\nSAY went on")
    parked(stage, run_id)
    answer = stage.api.post(f"/api/runs/{run_id}/steer", json={"text": "SAY faster"})
    assert (answer.status_code, answer.json()["code"]) == (409, "run_paused")
    stage.api.post(f"/api/runs/{run_id}/extend", json={})
    assert stage.end(run_id)["output"] == "went on"


@pytest.mark.one_stage
def test_a_time_that_makes_no_sense_is_asked_about(stage: Stage) -> None:
    run_id = stage.start(f"QUOTA {400 * 24 * _LONG}\nSAY went on")
    parked(stage, run_id)
    (asked,) = stage.api.get("/api/asks", params={"run_id": run_id}).json()["asks"]
    assert asked["kind"] == "gate"
    stage.decide(asked["id"], "approve")
    assert stage.end(run_id)["output"] == "went on"


def test_a_hub_that_is_killed_meanwhile_lets_it_go_on_afterwards(stage: Stage) -> None:
    run_id = stage.start("SAY first\nQUOTA 3\nSAY second")
    parked(stage, run_id)
    stage.hub.kill()
    stage.hub.start(stage.hub.port)
    ended = stage.end(run_id)
    assert (ended["status"], ended["output"]) == ("completed", "first\nsecond")


def test_who_waits_for_it_at_a_terminal_is_told_that_it_goes_on(stage: Stage) -> None:
    told = done(stage.hub.data, "run", "rehearsal", "QUOTA 3\nSAY went on")
    assert told.out.strip() == "went on"
    assert "is used up until" in told.err and "it goes on by itself" in told.err
