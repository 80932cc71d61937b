"""The examples run as they stand, with rehearsal agents."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.cli.shell import done, greenroom
from tests.rules.workflows.plays import Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage

EXAMPLES = ROOT / "examples" / "workflows"
FILES = sorted(EXAMPLES.glob("*.yaml"))


def test_all_examples_are_right(tmp_path: Path) -> None:
    ran = done(tmp_path / "data", "dag", "validate", *map(str, FILES))
    assert ran.out.count("✓") == len(FILES) == 4


def start(stage: Stage, name: str, **inputs: Any) -> str:
    """Run an example from the command line, and give back its run's id."""
    given = [word for key, value in inputs.items() for word in ("--input", f"{key}={value}")]
    file = str(EXAMPLES / f"{name}.yaml")
    ran = done(stage.hub.data, "dag", "run", file, *given, "--detach", "--json")
    return str(ran.json["run_id"])


def test_the_author_mends_its_code_in_the_session_in_which_it_wrote_it(stage: Stage) -> None:
    play = Play(stage)
    run_id = start(stage, "generate-review-fix", task="Write a function that counts moss.")
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == "completed", (run, steps)
    assert steps["generate"]["attempts"][0]["agent_id"] == steps["fix"]["attempts"][0]["agent_id"]
    assert "counts moss" in run["output"]["code"], "what it was asked first"
    assert "Read the code below" in run["output"]["review"], "the skill was handed over"


def test_several_agents_research_at_once_and_one_sums_up(stage: Stage) -> None:
    play = Play(stage)
    run_id = start(stage, "research", topic="moss")
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == "completed", (run, steps)
    assert len(steps["look"]["output"]) == len(run["output"]["questions"]) == 3
    assert all(question in run["output"]["summary"] for question in run["output"]["questions"])


@pytest.mark.parametrize(("verdict", "status"), [("approve", "completed"), ("deny", "failed")])
def test_a_release_waits_for_a_person(stage: Stage, verdict: str, status: str) -> None:
    play = Play(stage)
    run_id = start(stage, "release", version="1.2.3")
    ask = play.ask_of(run_id, "publish")
    assert "Publish version 1.2.3?" in stage.api.get(f"/api/asks/{ask}").text
    done(stage.hub.data, "ask", verdict, ask)
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == status, (run, steps)
    assert steps["report"]["status"] in ("skipped", "pending", "cancelled")


def test_the_nightly_triage_runs_by_hand_too_and_is_armed_for_the_night(stage: Stage) -> None:
    play = Play(stage)
    run_id = start(stage, "nightly-triage")
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == "completed", (run, steps)
    assert len(steps["answer"]["output"]) == 1
    assert "1 were answered" in steps["report"]["output"]
    told = done(stage.hub.data, "dag", "arm", "nightly-triage", "--json").json
    assert [(trigger["kind"], trigger["armed"]) for trigger in told] == [("cron", True)]
    assert told[0]["due"] > 0
    assert "nightly" in done(stage.hub.data, "dag", "triggers").out


def test_a_run_is_drawn_as_it_stands(stage: Stage) -> None:
    run_id = start(stage, "release")
    Play(stage).ask_of(run_id, "publish")
    drawn = done(stage.hub.data, "dag", "graph", run_id).out
    assert '"✓ Build the packages' in drawn
    assert '"⏸ Publish' in drawn
    assert "Publish" in done(stage.hub.data, "dag", "graph", "release", "--format", "svg").out


def test_a_workflow_of_run_tree_clients_runs_as_it_stands(stage: Stage) -> None:
    for name in ("researcher", "writer", "sender"):
        stage.profile(name)
    play = Play(stage)
    definition = json.loads((Path(__file__).parent / "forms" / "run_tree.json").read_text())
    told = 'OUTPUT {"notes": "moss likes shade", "score": 1}'
    body = {"definition": definition, "inputs": {"input": told, "reader": "ann"}}
    run_id = stage.api.post("/api/workflow-runs", json=body).json()["id"]
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == "completed", (run, steps)
    assert "moss likes shade" in steps["write"]["output"]["text"]
    assert [steps[step]["status"] for step in ("apologise", "send")] == ["skipped", "completed"]


def test_a_wrong_file_is_told_with_its_line_and_runs_nothing(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "release.yaml"
    shutil.copy(EXAMPLES / "release.yaml", file)
    file.write_text(file.read_text().replace("profile: rehearsal", "profile: rehersal", 1))
    ran = greenroom(stage.hub.data, "dag", "validate", str(file), "--json")
    assert ran.code == 1
    (problem,) = ran.json["files"][0]["problems"]
    assert (problem["line"], problem["step"], problem["code"]) == (14, "build", "unknown_profile")
    assert "did you mean 'rehearsal'?" in problem["text"]
