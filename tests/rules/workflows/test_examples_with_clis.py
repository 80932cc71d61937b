"""The examples, unchanged but for the profile, carried out by real agent CLIs on the scripted model."""

import json
import shutil
from pathlib import Path

import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.timeouts import TEST_LIMIT_S, WAIT_S
from tests.cli.shell import done
from tests.rules.workflows.plays import Json, Play
from tests.rules.workflows.test_agent_teams import install
from tests.rules.workflows.test_agent_teams import stage as stage
from tests.rules.workflows.test_examples import EXAMPLES
from tests.stage import Stage

pytestmark = [pytest.mark.clis, pytest.mark.timeout(2 * TEST_LIMIT_S)]


def carry_out(stage: Stage, folder: Path, name: str) -> tuple[Json, dict[str, Json]]:
    """Run one of the examples to its end; what it asks is answered with yes."""
    play = Play(stage)
    run_id = done(stage.hub.data, "dag", "run", str(folder / f"{name}.yaml"), "--detach").out.strip()
    if name == "release":
        stage.until(lambda: play.steps(run_id)["publish"]["status"] != "pending", "publish to be reached")
        done(stage.hub.data, "dag", "unblock", run_id, "publish")
    found = stage.api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": 2 * WAIT_S}, timeout=3 * WAIT_S).json()
    steps = play.steps(run_id)
    assert found["status"] == "completed", (name, found, steps)
    return found, steps


@pytest.mark.parametrize("cli", ["claude", "codex", "opencode"])
def test_the_examples_run_with_nothing_changed_but_the_profile(stage: Stage, tmp_path: Path, cli: str) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    for file in folder.glob("*.yaml"):
        file.write_text(file.read_text().replace(": rehearsal", f": {cli}"))
    with FakeModel() as model:
        install(stage, cli, model, cli)
        _, written = carry_out(stage, folder, "generate-review-fix")
        assert written["generate"]["attempts"][0]["agent_id"] == written["fix"]["attempts"][0]["agent_id"]
        found, _ = carry_out(stage, folder, "research")
        assert len(found["output"]["questions"]) == 3
        released, _ = carry_out(stage, folder, "release")
        assert released["output"]["tests"]["passed"] is True
        _, sorted_out = carry_out(stage, folder, "nightly-triage")
        assert len(sorted_out["answer"]["output"]) == 1
        assert "Make it faster" in sorted_out["report"]["output"]


def test_opencode_hands_the_temperature_of_a_step_to_its_model(stage: Stage, tmp_path: Path) -> None:
    bodies = tmp_path / "bodies"
    bodies.mkdir()
    with FakeModel(bodies=bodies) as model:
        install(stage, "opencode", model, "opencode")
        step = {"id": "a", "profile": "opencode", "prompt": "SAY pruned", "agent_config": {"temperature": 0.25}}
        run_id = Play(stage).start(step)
        found = stage.api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": WAIT_S}, timeout=2 * WAIT_S).json()
    assert found["output"] == {"a": "pruned"}
    asked = [json.loads(file.read_text())["body"] for file in sorted(bodies.iterdir())]
    assert 0.25 in [body.get("temperature") for body in asked]
