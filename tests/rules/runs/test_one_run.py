"""One agent at work: started, answered, kept, steered, limited and ended."""

import pytest

from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def test_a_run_ends_with_what_the_agent_said_and_used(stage: Stage) -> None:
    run = stage.done("THINK hm\nSAY hello\nUSAGE 10 20")
    assert (run["status"], run["output"]) == ("completed", "hello")
    assert (run["input_tokens"], run["output_tokens"]) == (10, 20)
    numbers = [item["number"] for item in stage.items(run["id"])]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_call_waits_until_it_is_allowed_and_then_runs(stage: Stage) -> None:
    run_id = stage.start("SHELL echo made > made.txt && cat made.txt\nSAY done")
    asked = stage.asked()
    assert stage.run(run_id)["status"] == "waiting"
    assert stage.decide(asked["id"], "approve").status_code == 200
    assert stage.end(run_id)["status"] == "completed"
    calls = stage.api.get(f"/api/runs/{run_id}/calls").json()
    assert any(call["ok"] and "made" in call["output"] for call in calls)


def test_a_denied_call_does_not_run_and_the_second_answer_is_too_late(stage: Stage) -> None:
    run_id = stage.start("SHELL touch never\nSAY went on")
    asked = stage.asked()
    assert stage.decide(asked["id"], "deny", text="not today").status_code == 200
    late = stage.decide(asked["id"], "approve")
    assert (late.status_code, late.json()["code"]) == (409, "already_answered")
    assert stage.end(run_id)["status"] in ("completed", "failed")
    assert not any(call.get("ok") for call in stage.api.get(f"/api/runs/{run_id}/calls").json())


def test_a_kept_agent_remembers_the_conversation(stage: Stage) -> None:
    first = stage.done("SAY one", keep_as="bob")
    second = stage.done("RECALL", agent="bob")
    assert second["agent_id"] == first["agent_id"]
    assert "2" in second["output"]


def test_a_second_prompt_to_a_busy_agent_waits_its_turn(stage: Stage) -> None:
    first = stage.start("SLEEP 1\nSAY first", keep_as="ann")
    second = stage.start("SAY second", agent="ann")
    assert stage.end(first)["output"] == "first"
    assert stage.end(second)["output"] == "second"


def test_an_agent_that_crashes_fails_its_run_with_its_last_words(stage: Stage) -> None:
    run = stage.done("SAY before\nCRASH")
    assert run["status"] == "failed"
    assert "process ended" in run["error"]


def test_an_agent_that_gives_up_fails_its_run(stage: Stage) -> None:
    run = stage.done("FAIL no idea")
    assert run["status"] == "failed"
    assert "no idea" in run["error"]


def test_a_run_beyond_its_time_pauses_and_goes_on_when_it_is_extended(stage: Stage) -> None:
    run_id = stage.start("SLEEP 5", timeout_s=1)
    stage.until(lambda: stage.run(run_id)["status"] == "waiting", "the run to pause")
    assert "limit" in stage.run(run_id)["waiting_for"]
    assert stage.api.post(f"/api/runs/{run_id}/extend", json={"timeout_s": 60}).status_code == 200
    assert stage.end(run_id)["status"] == "completed"


def test_an_unknown_profile_is_named_in_the_refusal(stage: Stage) -> None:
    answer = stage.api.post("/api/runs", json={"profile": "nobody", "prompt": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "profile_not_found")


def test_what_is_under_way_and_what_the_day_has_used_is_counted(stage: Stage) -> None:
    before = stage.api.get("/api/metrics").json()["work"]
    stage.done("USAGE 1000 50 0.25")
    asks, works = stage.start("ASK which one?"), stage.start("SLEEP 60")
    stage.asked()
    stage.until(lambda: stage.run(works)["status"] == "running", "the other to be at work")
    now = stage.api.get("/api/metrics").json()["work"]
    assert {name: now["runs"][name] - before["runs"][name] for name in now["runs"]} == {
        "pending": 0,
        "running": 1,
        "waiting": 1,
    }
    assert now["active_runs"] == sum(now["runs"].values())
    assert now["runs_waiting_for_people"] == before["runs_waiting_for_people"] + 1
    assert now["open_asks"] == before["open_asks"] + 1
    assert now["tokens_today"] == before["tokens_today"] + 1050
    assert now["usd_today"] == pytest.approx(before["usd_today"] + 0.25)
    text = stage.api.get("/api/metrics", headers={"Accept": "text/plain"}).text
    assert f'greenroom_runs{{status="waiting"}} {now["runs"]["waiting"]}\n' in text
    assert f"greenroom_runs_waiting_for_people {now['runs_waiting_for_people']}\n" in text
    for run in (asks, works):
        stage.api.post(f"/api/runs/{run}/cancel", json={})
