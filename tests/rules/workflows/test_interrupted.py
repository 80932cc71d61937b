"""Steps whose node was killed: how each `on_crash` goes on, and that resuming alone completes no step."""

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rules.runs.test_crashes import node_pid
from tests.rules.workflows.plays import Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
Json = dict[str, Any]


def at_work(play: Play, run_id: str, step: str) -> None:
    """Return once the agent of a step is at work."""

    def is_running() -> bool:
        attempts = play.steps(run_id)[step]["attempts"]
        found = attempts and play.api.get(f"/api/runs/{attempts[0]['agent_run']}")
        return bool(found) and found.status_code == 200 and found.json()["status"] == "running"

    play.stage.until(is_running, f"the agent of {step} to be at work")


def kill_node(stage: Stage) -> None:
    os.kill(node_pid(stage), signal.SIGKILL)


def answer(stage: Stage, ask_id: str, option: str) -> None:
    body = {"verdict": "answer", "options": [[option]]}
    answered = stage.api.post(f"/api/asks/{ask_id}/answer", json=body)
    assert answered.status_code == 200, answered.text


@pytest.mark.parametrize("how", ["resume", "probe"])
def test_a_step_is_finished_in_its_session_when_the_agents_machine_went_down(
    stage: Stage, tmp_path: Path, how: str
) -> None:
    play, go = Play(stage), tmp_path / "go"
    stage.profile("hands", approvals="never")
    prompt = f"SAY begun\nSHELL until test -e {go}; do sleep 0.1; done; echo it\nSAY did {{{{output}}}}"
    schema = {"type": "object", "required": ["did"]}
    asked = prompt.replace("{{output}}", "{{ '{{output}}' }}") + '\nOUTPUT {"did": "{{ \'{{output}}\' }}"}'
    run_id = play.start({"id": "long", "profile": "hands", "prompt": asked, "on_crash": how, "output_schema": schema})
    at_work(play, run_id, "long")
    kill_node(stage)
    go.touch()
    assert play.end(run_id)["status"] == "completed"
    step = play.steps(run_id)["long"]
    assert [(one["number"], one["status"]) for one in step["attempts"]] == [(1, "interrupted"), (2, "completed")]
    first, second = (stage.run(one["agent_run"]) for one in step["attempts"])
    assert (first["agent_id"], second["task"]) == (second["agent_id"], first["id"])
    assert second["prompt"].startswith("# You were interrupted.")
    assert second["prompt"].endswith(first["prompt"])
    assert step["output"] == {"did": "it"}
    assert second["output"].strip().startswith("did it")


def test_an_interrupted_run_is_finished_and_its_second_interruption_too(stage: Stage, tmp_path: Path) -> None:
    effects, go = tmp_path / "effects", tmp_path / "go"
    stage.profile("hands", approvals="never")
    script = f"SHELL echo x >> {effects}\nSHELL until test -e {go}; do sleep 0.1; done\nSAY done"
    run_id = first = stage.start(script, profile="hands")
    for _ in range(2):
        stage.until(lambda run_id=run_id: stage.run(run_id).get("calls"), "the agent to be at work")
        kill_node(stage)
        assert stage.end(run_id)["status"] == "interrupted"
        run_id = stage.api.post(f"/api/runs/{run_id}/resume", json={}).json()["id"]
    go.touch()
    ended = stage.end(run_id)
    assert (ended["status"], ended["output"].strip(), ended["task"]) == ("completed", "done", first)
    assert effects.read_text() == "x\n"


def test_a_step_whose_agent_cannot_go_on_is_asked_about_and_not_completed(stage: Stage) -> None:
    play = Play(stage)
    tool = [sys.executable, "-m", "greenroom.testing.scripted_tool"]
    options = {"tool": "perform", "prompt_argument": "script"}
    made = {"driver": "mcp", "command": tool, "options": options}
    assert stage.api.put("/api/profiles/tool", json=made).status_code == 200
    run_id = play.start({"id": "long", "profile": "tool", "prompt": "SLEEP 600\nSAY done"})
    at_work(play, run_id, "long")
    kill_node(stage)
    answer(stage, play.ask_of(run_id, "long"), "Give up")
    assert play.end(run_id)["status"] == "failed"


def test_a_step_whose_session_is_gone_stays_interrupted_until_somebody_decides(stage: Stage, tmp_path: Path) -> None:
    play, memory = Play(stage), tmp_path / "memory"
    stage.profile("forgetful", env={"GREENROOM_REHEARSAL_STATE": str(memory)})
    run_id = play.start({"id": "long", "profile": "forgetful", "prompt": "SAY begun\nSLEEP 600"})
    at_work(play, run_id, "long")
    shutil.rmtree(memory)
    kill_node(stage)
    asked: list[str] = []
    for choice in ("Resume", "Skip the step"):
        asked.append(stage.until(lambda: {play.ask_of(run_id, "long")}.difference(asked), "another ask").pop())
        assert "There is no session" in play.steps(run_id)["long"]["reason"]
        answer(stage, asked[-1], choice)
    play.end(run_id)
    step = play.steps(run_id)["long"]
    assert (step["status"], [one["status"] for one in step["attempts"]]) == (
        "skipped",
        ["interrupted"] * 2 + ["skipped"],
    )


def test_a_step_that_must_not_be_done_twice_asks_a_person_after_a_crash(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start({"id": "pay", "prompt": "SAY begun\nSLEEP 600", "on_crash": "ask"})
    at_work(play, run_id, "pay")
    kill_node(stage)
    ask = play.ask_of(run_id, "pay")
    shown = stage.api.get(f"/api/asks/{ask}").json()
    assert "was interrupted: what now?" in shown["title"]
    labels = [option["label"] for option in shown["questions"][0]["options"]]
    assert labels == ["Resume", "Do it again", "Skip the step", "Give up"]
    for unclear in ({"verdict": "approve"}, {"verdict": "answer", "text": "give up"}):
        refused = stage.api.post(f"/api/asks/{ask}/answer", json=unclear)
        assert refused.json()["code"] == "bad_answer", "nobody has said which"
    answer(stage, ask, "Skip the step")
    assert play.end(run_id)["status"] == "completed"
    assert play.steps(run_id)["pay"]["status"] == "skipped"
