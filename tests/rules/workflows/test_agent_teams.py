"""The agent teams' own file, as it stands, carried out by real Claude Code and OpenCode on the scripted model."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.runtimes.acp_rig import CACHE, CLIS, COMMANDS
from tests.runtimes.native_rig import PROGRAMS
from tests.stage import Stage

FILE = Path(__file__).parent / "forms" / "agent_teams.yaml"
FOUND = {name: [str(path)] for name, path in PROGRAMS.items()}
FOUND |= {name: COMMANDS[name] for name in ("opencode", "gemini", "copilot")}
SKILLS = {
    "generate-code": "Write a program that greets.\nSAY fn main() { greet() }",
    "review-code": "Look at what was written.\nSAY greet is missing",
    "fix-code": "Mend what the review found.\nRECALL",
}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub whose node finds the real CLIs."""
    if not (CLIS / "ready").exists():
        pytest.fail("the CLIs are not installed") if os.environ.get("CI") else pytest.skip("run `make clis`")
    path = os.pathsep.join([*(str(Path(command[0]).parent) for command in FOUND.values()), os.environ["PATH"]])
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def install(stage: Stage, name: str, model: FakeModel, called: str) -> None:
    """A profile of a real CLI on the scripted model, under the name that the file calls it by."""
    home = stage.hub.data.parent / name
    home.mkdir()
    wiring = write_model_wiring(name, home, model.url)
    assert wiring is not None
    env = {**wiring.env, **CACHE.get(name, {}), "HOME": str(home)}
    if name == "opencode":  # the file names a model of this provider
        config = json.loads(env["OPENCODE_CONFIG_CONTENT"])
        known = {**config["provider"]["fake"]["models"]["fake-model"], "status": "active"}  # OpenCode has it as retired
        models = {"glm-4.7-free": known}
        config["provider"]["opencode"] = {**config["provider"]["fake"], "models": models}
        config["enabled_providers"].append("opencode")
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(config)
    profile = {"driver": name, "command": FOUND[name], "env": env, "model": wiring.model}
    profile["start_timeout_s"] = int(WAIT_S)
    stage.profile(called, **profile)
    stage.until(lambda: name in stage.api.get("/api/nodes").json()[0].get("drivers", {}), f"{name} to be found")


@pytest.mark.anywhere
@pytest.mark.parametrize("reviewer", [pytest.param("opencode", marks=pytest.mark.clis), "codex"])
def test_the_third_step_goes_on_in_the_session_of_the_first_which_remembers_it(
    stage: Stage, tmp_path: Path, reviewer: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(FILE, project / "multi-agent-workflow.yaml")
    for name, text in SKILLS.items():
        (project / "skills" / name).mkdir(parents=True)
        front = f"---\nname: {name}\ndescription: One of the three.\n---\n"
        (project / "skills" / name / "SKILL.md").write_text(front + text)
    with FakeModel() as model:
        install(stage, "claude", model, "claude")
        install(stage, reviewer, model, "opencode")
        file = str(project / "multi-agent-workflow.yaml")
        run_id = done(stage.hub.data, "dag", "run", file, "--detach").out.strip()
        ended = stage.api.get(
            f"/api/workflow-runs/{run_id}/wait", params={"for_s": 2 * WAIT_S}, timeout=3 * WAIT_S
        ).json()
    report = stage.api.get(f"/api/workflow-runs/{run_id}/report").json()
    steps = {step["id"]: step for step in report["steps"]}
    assert ended["status"] == "completed", (ended, steps)
    runs = {name: stage.run(step["attempts"][0]["agent_run"]) for name, step in steps.items()}
    assert steps["generate"]["output"] == "fn main() { greet() }"
    assert steps["review"]["output"] == "greet is missing"
    assert runs["generate"]["agent_id"] == runs["fix"]["agent_id"] != runs["review"]["agent_id"]
    assert runs["generate"]["session"] == runs["fix"]["session"]
    assert "2 user messages" in steps["fix"]["output"], steps["fix"]
    assert runs["generate"]["overrides"]["instructions"] == "你是专业 Rust 开发者"
    assert runs["review"]["overrides"]["model"] == "opencode/glm-4.7-free"
    assert steps["generate"]["spent"]["input_tokens"] > 0
