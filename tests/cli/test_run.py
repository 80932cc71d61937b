"""`greenroom run` as a person uses it: in a project, with an eye on it, and over a restart of the hub."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, environment
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "greenroom", *args]


def run(stage: Stage, where: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    env = environment(stage.hub.data)
    return subprocess.run(
        command(*args), cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT_S
    )


def newest(stage: Stage) -> dict[str, object]:
    found: dict[str, object] = stage.api.get("/api/runs").json()[0]
    return found


@pytest.mark.anywhere
def test_an_agent_works_in_the_project_that_its_person_is_in(stage: Stage, tmp_path: Path) -> None:
    assert run(stage, tmp_path, "run", "rehearsal", "SAY hi").stdout == "hi\n"
    assert newest(stage)["overrides"] == {"directory": str(tmp_path)}


def test_a_person_is_told_that_a_run_waits_for_a_node_that_is_away(stage: Stage, tmp_path: Path) -> None:
    run(stage, tmp_path, "node", "add", "away", "--out", str(tmp_path / "away.token"))
    argv = command("run", "rehearsal", "SAY hi", "--node", "away")
    with subprocess.Popen(argv, env=environment(stage.hub.data), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = "waiting — for the node away, which is not connected: see `greenroom node list`\n"
        assert process.stderr.readline() == told
        stage.api.post(f"/api/runs/{newest(stage)['id']}/cancel", json={})
        assert process.wait(WAIT_S) == 1
    run(stage, tmp_path, "node", "remove", "away")


def test_a_directory_that_is_named_is_where_it_works(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    run(stage, tmp_path, "run", "rehearsal", "SAY hi", "--directory", "sub", "--model", "loud")
    assert newest(stage)["overrides"] == {"directory": str(tmp_path / "sub"), "model": "loud"}
    missing = run(stage, tmp_path, "run", "rehearsal", "SAY hi", "--directory", "nowhere")
    assert (missing.returncode, "is not there" in missing.stderr) == (1, True)


def test_a_whole_home_is_given_to_no_agent(stage: Stage) -> None:
    run(stage, stage.hub.data.parent, "run", "rehearsal", "SAY hi")
    assert "overrides" not in newest(stage)


def test_a_profile_that_says_where_is_believed(stage: Stage, tmp_path: Path) -> None:
    stage.profile("housed", directory=str(tmp_path))
    run(stage, Path("/"), "run", "housed", "SAY hi")
    assert "overrides" not in newest(stage)


def test_a_kept_agent_goes_on_where_it_was(stage: Stage, tmp_path: Path) -> None:
    run(stage, tmp_path, "run", "rehearsal", "SAY one", "--keep-as", "walker")
    run(stage, Path("/"), "run", "rehearsal", "SAY two", "--agent", "walker")
    assert newest(stage)["overrides"] == {"directory": str(tmp_path)}
    run(stage, Path("/"), "agent", "stop", "walker")


def test_a_prompt_is_handed_over_as_it_is(stage: Stage, tmp_path: Path) -> None:
    run(stage, tmp_path, "run", "rehearsal", r"SAY replace \n by \r\n")
    assert newest(stage)["prompt"] == r"SAY replace \n by \r\n"


@pytest.mark.parametrize("limit", [{"timeout_s": -5}, {"max_tokens": 0}, {"max_cost_usd": -0.1}])
def test_a_limit_below_nothing_is_refused(stage: Stage, limit: dict[str, float]) -> None:
    answer = stage.api.post("/api/runs", json={"profile": "rehearsal", "prompt": "SAY hi", **limit})
    assert answer.status_code == 400, answer.text
    assert next(iter(limit)) in answer.json()["detail"]


def test_an_agent_is_invited_into_a_thread_by_its_topic(stage: Stage, tmp_path: Path) -> None:
    stage.api.post("/api/threads", json={"topic": "by name"})
    invited = run(stage, tmp_path, "invite", "rehearsal", "--thread", "by name", "--prompt", "SAY here")
    assert (invited.returncode, "is being started" in invited.stdout) == (0, True), invited


def test_who_waits_is_told_for_what_at_once_and_once_and_that_the_run_goes_on(stage: Stage, tmp_path: Path) -> None:
    argv = command("run", "rehearsal", "SHELL make", "--follow")
    env = {**environment(stage.hub.data), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("waiting — permission: shell: make")
        run_id = str(newest(stage)["id"])
        os.kill(process.pid, signal.SIGINT)
        told = process.stderr.read()
        assert process.wait(WAIT_S) == 130
    assert told == (
        f"The run goes on: `greenroom runs follow {run_id}` takes it up, `greenroom runs cancel {run_id}` ends it.\n"
    )
    stage.api.post(f"/api/runs/{run_id}/cancel", json={})


def test_a_list_of_agents_has_those_at_work_and_kept_and_all_only_on_demand(stage: Stage) -> None:
    once, kept = stage.done("SAY once"), stage.done("SAY stay", keep_as="keeper")
    assert stage.api.post("/api/agents/keeper/stop").json()["process"] == "asleep"
    listed = {one["id"]: one for one in done(stage.hub.data, "agent", "list", "--json").json}
    assert (once["agent_id"] in listed, listed["rehearsal"]["is_invitable"]) == (False, True)
    assert (listed[kept["agent_id"]]["kept_as"], listed[kept["agent_id"]]["process"]) == ("keeper", "asleep")
    everybody = done(stage.hub.data, "agent", "list", "--all").out
    assert once["agent_id"] in everybody
    assert stage.api.get("/api/agents/keeper").json()["id"] == kept["agent_id"]
    assert "stay" in done(stage.hub.data, "agent", "logs", "keeper").out
