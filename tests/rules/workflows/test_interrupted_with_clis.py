"""Real agent CLIs whose node is killed while they are at a step: they finish the step's own task."""

import os
import signal
from pathlib import Path

import pytest

from greenroom.testing.fake_llm import FakeModel
from tests.rules.runs.test_crashes import node_pid
from tests.rules.workflows.plays import Play
from tests.rules.workflows.test_agent_teams import install
from tests.rules.workflows.test_agent_teams import stage as stage
from tests.stage import Stage


@pytest.mark.parametrize(
    "cli",
    ["claude", "codex", *(pytest.param(name, marks=pytest.mark.clis) for name in ("opencode", "gemini", "copilot"))],
)
def test_a_killed_node_does_not_let_a_step_pass_for_done(stage: Stage, tmp_path: Path, cli: str) -> None:
    play, effects, go = Play(stage), tmp_path / "effects", tmp_path / "go"
    with FakeModel() as model:
        install(stage, cli, model, cli)
        command = f"echo x >> {effects}; until test -e {go}; do sleep 0.2; done; echo y >> {effects}"
        prompt = f"USE_TOOL bash {command}\nSAY it is all done"
        run_id = play.start({"id": "work", "profile": cli, "prompt": prompt})

        def may() -> bool:
            """Whether the command runs; it is allowed wherever it is asked about."""
            for ask in stage.api.get("/api/asks").json()["asks"]:
                stage.decide(ask["id"], "approve", digest=ask.get("digest"))
            return effects.exists()

        stage.until(may, "the agent to be at its command")
        os.kill(node_pid(stage), signal.SIGKILL)
        go.touch()

        def is_over() -> bool:
            may()
            return play.run(run_id)["status"] in ("completed", "failed", "cancelled")

        stage.until(is_over, "the step to be over")
        step = play.steps(run_id)["work"]
    assert [one["status"] for one in step["attempts"]] == ["interrupted", "completed"], step
    assert step["output"] == "it is all done"
    first, second = (stage.run(one["agent_run"]) for one in step["attempts"])
    assert (first["session"], second["task"]) == (second["session"], first["id"])
    assert "y" in effects.read_text()
