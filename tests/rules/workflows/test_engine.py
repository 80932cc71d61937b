"""Workflows carried out by a hub with rehearsal agents."""

from pathlib import Path

import pytest

from tests.rules.workflows.plays import Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def test_agents_carry_out_steps_and_later_ones_see_what_came_of_earlier_ones(stage: Stage) -> None:
    play = Play(stage)
    run, steps = play.done(
        {"id": "write", "prompt": 'OUTPUT {"title": "On moss", "words": 42}\nUSAGE 10 5'},
        {
            "id": "read",
            "prompt": "SAY {{ steps.write.output.title }} has {{ steps.write.output.words }}",
            "dependencies": ["write"],
            "context": [],
        },
        {"id": "sum", "set": {"twice": "steps.write.output.words * 2"}, "dependencies": ["read"]},
        output={"title": "steps.read.output", "twice": "steps.sum.output.twice"},
    )
    assert run["status"] == "completed", run
    assert run["output"] == {"title": "On moss has 42", "twice": 84}
    assert (run["spent"]["input_tokens"], run["spent"]["output_tokens"]) == (10, 5)
    attempt = steps["write"]["attempts"][0]
    assert stage.run(attempt["agent_run"])["agent_id"] == attempt["agent_id"]


def test_a_later_step_goes_on_in_the_very_session_of_an_earlier_one(stage: Stage) -> None:
    run, steps = Play(stage).done(
        {"id": "first", "prompt": "SAY remember the moss", "keep_agent": True, "agent_config": {"name": "gardener"}},
        {"id": "other", "prompt": "SAY nothing", "dependencies": ["first"]},
        {"id": "again", "prompt": "RECALL", "reuse_agent": "gardener", "dependencies": ["other"], "context": []},
    )
    assert run["status"] == "completed", run
    assert steps["first"]["attempts"][0]["agent_id"] == steps["again"]["attempts"][0]["agent_id"]
    assert steps["first"]["agent"] == steps["again"]["agent"] == "gardener"
    assert "remember the moss" in steps["again"]["output"]


def test_an_agent_kept_in_the_pool_goes_on_in_another_run(stage: Stage) -> None:
    play = Play(stage)
    kept = {"id": "first", "prompt": "SAY remember the fern", "keep_agent": True, "keep_as": "pool:helper"}
    first, before = play.done(kept, name="keeps")
    second, after = play.done({"id": "again", "prompt": "RECALL", "reuse_agent": "pool:helper"}, name="reuses")
    assert (first["status"], second["status"]) == ("completed", "completed"), second
    assert before["first"]["attempts"][0]["agent_id"] == after["again"]["attempts"][0]["agent_id"]
    assert "remember the fern" in after["again"]["output"]


def test_pausing_a_run_pauses_what_is_nested_in_it(stage: Stage) -> None:
    play = Play(stage)
    steps = [{"id": "wait", "wait": {"webhook": "go"}}, {"id": "then", "set": {"a": "1"}, "dependencies": ["wait"]}]
    inner = {"name": "inner", "steps": steps}
    run_id = play.start({"id": "down", "workflow": "inner"}, workflows={"inner": inner}, name="outer")
    play.until(run_id, "down", "running")
    below = str(play.steps(run_id)["down"]["waits_key"])
    stage.until(lambda: stage.api.get(f"/api/workflow-runs/{below}").status_code == 200, "the nested run")
    play.until(below, "wait", "waiting")
    assert play.control(run_id, "pause").status_code == 200
    play.control(below, "signal", step="wait")
    assert play.until(below, "then", "held")["reason"] == "the workflow is paused"
    assert play.control(run_id, "resume").status_code == 200
    assert play.end(run_id)["status"] == "completed"


def test_a_step_says_what_is_different_about_its_agent(stage: Stage, tmp_path: Path) -> None:
    config = {"name": "one", "work_dir": str(tmp_path / "{{ inputs.place }}"), "model": "loud"}
    (tmp_path / "here").mkdir()
    stage.profile("free", approvals="never")
    run, steps = Play(stage).done(
        {"id": "a", "prompt": "WRITE note.txt found", "profile": "free", "agent_config": config, "keep_agent": True},
        {"id": "b", "prompt": "SHELL cat note.txt", "reuse_agent": "one", "dependencies": ["a"], "context": []},
        takes={"place": {"type": "string"}},
        inputs={"place": "here"},
    )
    assert run["status"] == "completed", run
    assert (tmp_path / "here" / "note.txt").read_text() == "found"
    first, second = (stage.run(steps[one]["attempts"][0]["agent_run"]) for one in ("a", "b"))
    assert first["overrides"] == second["overrides"]
    assert first["overrides"]["model"] == "loud"


def test_an_answer_that_does_not_fit_is_mended_once_and_then_fails_in_words(stage: Stage) -> None:
    play = Play(stage)
    schema = {"type": "object", "required": ["score"], "properties": {"score": {"type": "integer"}}}
    run, steps = play.done({"id": "judge", "prompt": "SAY it is good", "output_schema": schema})
    assert run["status"] == "failed"
    assert "does not fit" in steps["judge"]["error"]
    prompts = [one["prompt"] for one in stage.api.get("/api/runs").json()]
    assert any("cannot be used" in prompt and '"score"' in prompt for prompt in prompts)
    fits, steps = play.done({"id": "judge", "prompt": 'SAY {"score": 7}', "output_schema": schema}, name="fits")
    assert (fits["status"], steps["judge"]["output"]) == ("completed", {"score": 7})


def test_a_gate_holds_a_step_back_until_a_person_says_yes(stage: Stage) -> None:
    play = Play(stage)
    level = {"kind": "confirmed", "question": "Release {{ inputs.version }}?"}
    run_id = play.start(
        {"id": "build", "prompt": "SAY built"},
        {"id": "ship", "prompt": "SAY shipped", "level": level, "dependencies": ["build"]},
        takes={"version": {"type": "string"}},
        inputs={"version": "2.0"},
    )
    ask = play.ask_of(run_id, "ship")
    shown = stage.api.get(f"/api/asks/{ask}").json()
    assert (shown["title"], shown["kind"]) == ("Release 2.0?", "gate")
    assert stage.api.post(f"/api/asks/{ask}/answer", json={"verdict": "approve"}).status_code == 200
    assert play.end(run_id)["status"] == "completed"


def test_a_step_that_asks_for_leave_can_be_changed_and_then_asks_anew(stage: Stage) -> None:
    play = Play(stage)
    level = {"kind": "confirmed", "question": "Ship?"}
    run_id = play.start({"id": "ship", "prompt": "SAY shipped to all", "level": level})
    first = play.ask_of(run_id, "ship")
    assert play.control(run_id, "amend", step="ship", changes={"prompt": "SAY shipped to some"}).status_code == 200
    stage.until(lambda: stage.api.get(f"/api/asks/{first}").json()["state"] == "withdrawn", "the question to go")
    second = play.ask_of(run_id, "ship")
    assert second != first
    assert stage.api.get(f"/api/asks/{second}").json()["text"] == "SAY shipped to some"
    assert stage.decide(first, "approve").status_code == 409, "nobody agrees to what it was before"
    assert stage.decide(second, "approve").status_code == 200
    assert play.end(run_id)["output"] == {"ship": "shipped to some"}


def test_a_refused_gate_ends_the_run_with_the_words_of_who_refused(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start({"id": "ship", "prompt": "SAY shipped", "level": {"kind": "confirmed"}})
    ask = play.ask_of(run_id, "ship")
    stage.api.post(f"/api/asks/{ask}/answer", json={"verdict": "deny", "text": "not on a Friday"})
    run = play.end(run_id)
    assert run["status"] == "failed"
    assert "not on a Friday" in run["error"]


def test_an_aborted_run_ends_its_agents_and_withdraws_its_questions(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start({"id": "long", "prompt": "SLEEP 600"}, {"id": "gate", "level": {"kind": "confirmed"}})
    ask = play.ask_of(run_id, "gate")
    play.until(run_id, "long", "running")
    agent_run = stage.until(
        lambda: (
            (found := play.steps(run_id)["long"]["attempts"])
            and stage.api.get(f"/api/runs/{found[0]['agent_run']}").status_code == 200
            and found[0]["agent_run"]
        ),
        "the agent's run",
    )
    assert play.control(run_id, "abort", reason="enough").json()["status"] == "cancelled"
    assert stage.end(agent_run)["status"] == "cancelled"
    stage.until(
        lambda: stage.api.get(f"/api/asks/{ask}").json()["state"] == "withdrawn", "the question to be withdrawn"
    )


def test_a_failed_run_is_taken_up_again_and_keeps_what_is_finished(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start(
        {"id": "a", "prompt": "SAY a"},
        {"id": "b", "prompt": "FAIL not yet", "dependencies": ["a"]},
        {"id": "c", "prompt": "SAY c", "dependencies": ["b"]},
    )
    assert play.end(run_id)["status"] == "failed"
    first = play.steps(run_id)["a"]["attempts"][0]["agent_run"]
    assert play.control(run_id, "retry").status_code == 200
    again = play.end(run_id)
    assert again["status"] == "failed"
    steps = play.steps(run_id)
    assert [one["number"] for one in steps["b"]["attempts"]] == [1, 2]
    assert [one["agent_run"] for one in steps["a"]["attempts"]] == [first]
    spans = [one["ended_at"] - one["began_at"] for one in steps["b"]["attempts"]]
    assert steps["b"]["duration_ms"] == sum(spans), "the time between the attempts is none of theirs"


def test_of_a_fan_out_that_has_failed_only_the_rest_is_done_again(stage: Stage) -> None:
    play = Play(stage)
    each = {"items": [1, 0, 2], "parallel": 1}
    run_id = play.start({"id": "each", "for_each": each, "set": {"n": "10 / item"}})
    assert play.end(run_id)["status"] == "failed"
    assert play.control(run_id, "amend", step="each", changes={"set": {"n": "item"}}).status_code == 200
    assert play.control(run_id, "retry").status_code == 200
    assert play.end(run_id)["output"] == {"each": [{"n": 10}, {"n": 0}, {"n": 2}]}
    steps = play.steps(run_id)
    assert [[one["status"] for one in steps[f"each[{n}]"]["attempts"]] for n in range(3)] == [
        ["completed"],
        ["failed", "completed"],
        ["completed"],
    ]


def test_a_step_that_has_not_begun_can_be_changed(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start(
        {"id": "wait", "wait": {"webhook": "never"}},
        {"id": "say", "prompt": "SAY before", "dependencies": ["wait"], "context": []},
    )
    play.until(run_id, "wait", "waiting")
    refused = play.control(run_id, "amend", step="say", changes={"dependencies": []})
    assert refused.status_code == 400
    assert play.control(run_id, "amend", step="say", changes={"prompt": "SAY after"}).status_code == 200
    assert play.control(run_id, "amend", step="wait", changes={"description": "late"}).status_code == 409
    assert play.control(run_id, "signal", step="wait", value={"ok": True}).status_code == 200
    assert play.end(run_id)["output"] == {"say": "after"}
    assert play.control(run_id, "amend", step="say", changes={"prompt": "SAY again"}).status_code == 200
    assert play.control(run_id, "retry", step="say").status_code == 200
    assert play.end(run_id)["output"] == {"say": "again"}


def test_a_run_keeps_the_definition_that_it_began_with(stage: Stage) -> None:
    play = Play(stage)
    wait = {"id": "wait", "wait": {"webhook": "go"}}
    run_id = play.start(wait, {"id": "say", "prompt": "SAY old", "dependencies": ["wait"], "context": []}, name="kept")
    play.until(run_id, "wait", "waiting")
    newer = play.start(wait, {"id": "say", "prompt": "SAY new", "dependencies": ["wait"], "context": []}, name="kept")
    for one in (run_id, newer):
        play.until(one, "wait", "waiting")
        play.control(one, "signal", step="wait")
    assert (play.end(run_id)["output"], play.end(newer)["output"]) == ({"say": "old"}, {"say": "new"})
    versions = stage.api.get("/api/workflows/kept/versions").json()
    assert [version["version"] for version in versions] == [2, 1]


def test_a_message_in_a_thread_lets_a_waiting_step_go_on(stage: Stage) -> None:
    play = Play(stage)
    thread = stage.api.post("/api/threads", json={"topic": "releases"}).json()
    wait = {"message": {"thread": "releases", "contains": "ship it"}}
    run_id = play.start(
        {"id": "word", "wait": wait}, {"id": "ok", "set": {"by": "steps.word.output.content"}, "dependencies": ["word"]}
    )
    play.until(run_id, "word", "waiting")
    thread_id = thread.get("id") or thread["thread_id"]
    for words in ("not yet", "please SHIP IT now"):
        posted = stage.api.post(f"/api/threads/{thread_id}/messages", json={"content": words})
        assert posted.status_code == 201, posted.text
    assert play.end(run_id)["output"] == {"ok": {"by": "please SHIP IT now"}}


def test_a_nested_workflow_is_a_run_of_its_own(stage: Stage) -> None:
    play = Play(stage)
    inner = {
        "name": "inner",
        "inputs": {"n": {"type": "integer"}},
        "steps": [{"id": "a", "set": {"m": "inputs.n + 1"}}],
    }
    run, _ = play.done(
        {"id": "down", "workflow": "inner", "inputs": {"n": "41"}}, workflows={"inner": inner}, name="outer"
    )
    assert run["output"] == {"down": {"a": {"m": 42}}}
    below = [one for one in stage.api.get("/api/workflow-runs").json() if one.get("parent_id") == run["id"]]
    assert [(one["workflow"], one["depth"], one["status"]) for one in below] == [("inner", 1, "completed")]
