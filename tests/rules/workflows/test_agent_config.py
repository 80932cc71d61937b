"""What a step says of its agent reaches it, and what cannot is said before it runs."""

import json
from pathlib import Path

import pytest

from greenroom.rules.workflows.parser.loader import load_text
from greenroom.runtimes.agents.opencode.launch import plan_launch
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.services.workflow_files import build_known
from greenroom.testing.fake_llm import FakeModel
from tests.cli.shell import done
from tests.rules.workflows.plays import Play
from tests.runtimes.test_acp_launch import opening
from tests.stage import Stage

_FILE = """\
name: told
steps:
  - id: one
    agent_runtime: {runtime}
    keep_agent: true
    agent_config:
      name: kept
      temperature: 0.2
      system_prompt: Be brief.
    prompt: Work.
  - id: two
    reuse_agent: kept
    dependencies: [one]
    agent_config:
      model: other
    prompt: Go on.
"""


def test_model_temperature_and_instructions_of_a_step_reach_the_model(stage: Stage, tmp_path: Path) -> None:
    bodies = tmp_path / "bodies"
    bodies.mkdir()
    with FakeModel(bodies=bodies) as model:
        wiring = write_model_wiring("builtin", tmp_path, model.url)
        assert wiring is not None
        env = {**wiring.env, "GREENROOM_BUILTIN_STATE": str(tmp_path / "state")}
        stage.profile("thinker", driver="builtin", model=wiring.model, env=env)
        config = {"temperature": 0.25, "model": "openai:other-model", "system_prompt": "You prune {{ inputs.what }}."}
        run, steps = Play(stage).done(
            {"id": "a", "profile": "thinker", "prompt": "SAY pruned", "agent_config": config},
            takes={"what": {"type": "string"}},
            inputs={"what": "roses"},
        )
    assert (run["status"], steps["a"]["output"]) == ("completed", "pruned")
    asked = [json.loads(file.read_text())["body"] for file in sorted(bodies.iterdir())]
    assert asked
    assert all(body["temperature"] == 0.25 and body["model"] == "other-model" for body in asked)
    assert "You prune roses." in json.dumps(asked[0])


def test_opencode_is_told_a_temperature_as_a_number(tmp_path: Path) -> None:
    launch = plan_launch(opening(tmp_path, temperature=0.0), None, "pw", "greenroom")
    assert json.loads(launch.env["OPENCODE_CONFIG_CONTENT"])["agent"]["build"]["temperature"] == 0.0


def test_what_a_runtime_cannot_be_told_is_a_warning_that_names_the_step_and_the_line() -> None:
    found = load_text(_FILE.format(runtime="claude"), "told.yaml", known=build_known(None)).warnings
    assert [problem.text for problem in found] == [
        "told.yaml:8: step 'one': agent_config.temperature has no effect: claude does not accept a temperature;"
        " remove it, or use a profile whose driver supports it",
        "told.yaml:15: step 'two': agent_config.model has no effect: 'kept' continues with its own settings;"
        " write it at the step that keeps the agent",
    ]
    assert len(load_text(_FILE.format(runtime="builtin"), known=build_known(None)).warnings) == 1


def test_the_driver_of_a_profile_is_what_counts() -> None:
    known = build_known({"claude": "builtin", "mine": "pty"})
    assert len(load_text(_FILE.format(runtime="claude"), known=known).warnings) == 1
    text = _FILE.format(runtime="x").replace("agent_runtime: x", "profile: mine")
    assert [problem.path[-1] for problem in load_text(text, known=known).warnings[:2]] == [
        "system_prompt",
        "temperature",
    ]


@pytest.mark.parametrize("name", ["claude", "codex", "pty", "command", "mcp"])
def test_every_driver_that_cannot_be_told_is_known(name: str) -> None:
    assert "temperature" in DRIVER_INFOS[name].untold


def test_validate_and_run_show_the_warnings_and_go_on(stage: Stage, tmp_path: Path) -> None:
    stage.profile("quiet", driver="command", command=["true"])
    file = tmp_path / "told.yaml"
    file.write_text("name: told\nsteps:\n  - {id: a, profile: quiet, prompt: Do it., agent_config: {model: large}}\n")
    checked = done(stage.hub.data, "dag", "validate", str(file))
    assert "✓" in checked.out
    assert "! " in checked.out
    assert "step 'a': agent_config.model has no effect" in checked.out
    (result,) = done(stage.hub.data, "dag", "validate", str(file), "--json").json["files"]
    assert [(warning["line"], warning["step"]) for warning in result["warnings"]] == [(3, "a")]
    ran = done(stage.hub.data, "dag", "run", str(file), "--detach")
    assert "agent_config.model has no effect" in ran.err
    shown = stage.api.post("/api/workflow-check", json={"text": file.read_text()}).json()
    assert [warning["code"] for warning in shown["warnings"]] == ["no_effect"]
