"""Each mishap ends in a state that says what happened, and what a person then does works."""

from pathlib import Path

import pytest

from tests.cli.shell import done, greenroom
from tests.rules.workflows.plays import Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def told(stage: Stage, run_id: str) -> str:
    """What a person reads who looks at a run."""
    return done(stage.hub.data, "dag", "status", run_id).out


def test_a_step_that_hangs_is_ended_after_its_time_and_says_how_long_that_was(stage: Stage) -> None:
    play = Play(stage)
    run, steps = play.done({"id": "slow", "prompt": "HANG", "timeout_s": 2}, name="hang")
    assert run["error"] == "step 'slow' failed: it was not done within 2 s"
    assert "failed: step 'slow' failed: it was not done within 2 s" in told(stage, run["id"])
    assert stage.end(steps["slow"]["attempts"][0]["agent_run"])["status"] == "cancelled", "nothing goes on behind it"
    assert play.control(run["id"], "retry").status_code == 200
    assert [one["number"] for one in play.steps(play.end(run["id"])["id"])["slow"]["attempts"]] == [1, 2]


def test_an_agent_that_dies_fails_its_step_with_its_last_words(stage: Stage) -> None:
    run, _ = Play(stage).done({"id": "a", "prompt": "CRASH out of memory"}, name="dies")
    assert run["status"] == "failed"
    assert "process ended" in run["error"]
    assert "out of memory" in run["error"]
    shown = greenroom(stage.hub.data, "dag", "follow", run["id"])
    assert shown.code == 1
    assert f"greenroom dag retry {run['id']}` takes it up again" in shown.err


def test_an_output_that_is_no_json_is_sent_back_once_and_then_quoted(stage: Stage) -> None:
    schema = {"type": "object", "required": ["score"]}
    step = {"id": "judge", "prompt": 'OUTPUT "it is good"', "output_schema": schema}
    run, steps = Play(stage).done(step, name="no json")
    assert run["error"] == (
        "step 'judge' failed: the agent's output does not fit: $: 'score' is a required property"
    ), "its second answer was JSON, but not what was wanted"
    assert run["error"] in told(stage, run["id"])
    prompts = [one["prompt"] for one in stage.api.get("/api/runs").json()]
    assert any("Your answer cannot be used: it is not JSON: 'it is good'" in prompt for prompt in prompts)
    assert len(steps["judge"]["attempts"]) == 1, "the answer was mended within the attempt"


def test_a_file_that_is_edited_during_a_run_changes_nothing_about_it(stage: Stage, tmp_path: Path) -> None:
    play, file = Play(stage), tmp_path / "plan.yaml"
    steps = ["{id: wait, wait: {webhook: go}}", "{id: say, set: {it: \"'old'\"}, dependencies: [wait]}"]
    text = "\n".join(["name: plan", "steps:", *(f"  - {step}" for step in steps)])
    file.write_text(text)
    run_id = done(stage.hub.data, "dag", "run", str(file), "--detach").out.strip()
    play.until(run_id, "wait", "waiting")
    file.write_text(text.replace("old", "new"))
    newer = done(stage.hub.data, "dag", "run", str(file), "--detach").out.strip()
    play.until(newer, "wait", "waiting")
    file.write_text("this is no workflow any more")
    for one in (run_id, newer):
        done(stage.hub.data, "dag", "signal", one, "wait")
    outputs = [play.end(one)["output"]["say"]["it"] for one in (run_id, newer)]
    assert outputs == ["old", "new"]
    wrong = greenroom(stage.hub.data, "dag", "run", str(file))
    assert (wrong.code, "plan.yaml:1" in wrong.err) == (1, True), wrong.err


def test_a_deleted_profile_is_named_and_its_return_lets_the_run_go_on(stage: Stage) -> None:
    play = Play(stage)
    stage.profile("soon-gone")
    wait = {"id": "wait", "wait": {"webhook": "x"}}
    step = {"id": "a", "prompt": "SAY a", "profile": "soon-gone", "dependencies": ["wait"], "context": []}
    run_id = play.start(wait, step)
    play.until(run_id, "wait", "waiting")
    assert stage.api.delete("/api/profiles/soon-gone").status_code in (200, 204)
    play.control(run_id, "signal", step="wait")
    gone = play.end(run_id)
    assert "no profile 'soon-gone' any more: create it again or amend the step, then retry the run" in gone["error"]
    stage.profile("soon-gone")
    done(stage.hub.data, "dag", "retry", run_id)
    assert play.end(run_id)["output"] == {"a": "a"}


def test_a_step_that_failed_is_changed_before_its_run_is_retried(stage: Stage) -> None:
    play = Play(stage)
    before = {"id": "before", "prompt": "SAY once", "context": []}
    step = {"id": "slow", "prompt": "HANG", "timeout_s": 1, "dependencies": ["before"], "context": []}
    run_id = play.start(before, step)
    assert play.end(run_id)["status"] == "failed"
    done(stage.hub.data, "dag", "amend", run_id, "slow", "--set", "prompt=SAY at last", "--set", "timeout_s=60")
    done(stage.hub.data, "dag", "retry", run_id)
    assert play.end(run_id)["output"] == {"slow": "at last"}
    assert len(play.steps(run_id)["before"]["attempts"]) == 1, "what was finished is kept"
