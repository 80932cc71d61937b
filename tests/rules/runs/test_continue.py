"""Giving the agent of a run that is over more to do; and where a run works, with which model, on which branch."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import environment
from tests.rules.agents.test_invite import ready
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def greenroom(stage: Stage, *args: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "greenroom", *args]
    env = environment(stage.hub.data)
    return subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT_S
    )


def continued(stage: Stage, run_id: str, prompt: str, **fields: Any) -> dict[str, Any]:
    made = stage.api.post(f"/api/runs/{run_id}/continue", json={"prompt": prompt, **fields})
    assert made.status_code == 201, made.text
    return stage.end(made.json()["id"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    who = ["-c", "user.email=a@example.org", "-c", "user.name=a"]
    for words in (["init", "-q", "-b", "trunk"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


def test_a_run_that_is_over_is_continued_in_the_same_conversation_and_folder(stage: Stage, tmp_path: Path) -> None:
    ready(stage)
    first = stage.done("SAY one", directory=str(tmp_path), model="loud")
    second = continued(stage, first["id"], "RECALL", max_cost_usd=2)
    assert (second["agent_id"], second["continues"]) == (first["agent_id"], first["id"])
    assert stage.run(first["id"])["continued_in"] == second["id"]
    assert second["output"].startswith("prompts: 2, first: SAY one")
    assert (second["directory"], second["model"]) == (first["directory"], first["model"]) == (str(tmp_path), "loud")
    third = continued(stage, second["id"], "RECALL")
    assert third["output"].startswith("prompts: 3")


@pytest.mark.parametrize("end", ["FAIL it broke", "cancelled"])
def test_a_run_that_failed_or_was_cancelled_is_continued_too(stage: Stage, end: str) -> None:
    ready(stage)
    run_id = stage.start("SAY one\nSLEEP 60" if end == "cancelled" else end)
    if end == "cancelled":
        stage.until(lambda: "said" in [item["kind"] for item in stage.items(run_id)], "its words")
        stage.api.post(f"/api/runs/{run_id}/cancel", json={})
    assert stage.end(run_id)["status"] != "completed"
    assert continued(stage, run_id, "RECALL")["output"].startswith("prompts: 2")


def test_what_cannot_be_continued_says_why_and_what_to_do_instead(stage: Stage, repository: Path) -> None:
    ready(stage)
    stage.profile("echo", driver="command", command=["echo", "{prompt}"])
    run = stage.done("hello", profile="echo", directory=str(repository), worktree=True)
    refused = stage.api.post(f"/api/runs/{run['id']}/continue", json={"prompt": "more"})
    assert (refused.status_code, refused.json()["code"]) == (409, "cannot_continue")
    assert refused.json()["detail"] == (
        "The agent keeps no conversation that it could go on with: start a new run with the same profile and folder."
    )
    told = greenroom(stage, "runs", "continue", run["id"], "more")
    assert told.returncode == 1
    assert f"greenroom: try: greenroom run echo PROMPT --directory {repository} --worktree" in told.stderr
    live = stage.start("SLEEP 30")
    assert stage.api.post(f"/api/runs/{live}/continue", json={"prompt": "x"}).json()["code"] == "run_not_over"
    gone = stage.done("SAY here")
    stage.api.post(f"/api/agents/{gone['agent_id']}/kick", json={})
    assert "has left the hub" in stage.api.post(f"/api/runs/{gone['id']}/continue", json={"prompt": "x"}).text


def test_a_run_is_continued_from_the_command_line(stage: Stage, tmp_path: Path) -> None:
    ready(stage)
    first = greenroom(stage, "run", "rehearsal", "SAY one", "--json", cwd=tmp_path)
    run_id = stage.api.get("/api/runs").json()[0]["id"]
    assert run_id in first.stdout
    done = greenroom(stage, "runs", "continue", run_id, "RECALL")
    assert (done.returncode, done.stdout.startswith("prompts: 2")) == (0, True)
    shown = greenroom(stage, "runs", "show", stage.api.get("/api/runs").json()[0]["id"]).stdout
    assert f"directory    {tmp_path}" in shown and f"continues    {run_id}" in shown
    assert (
        f"continued_in {stage.api.get('/api/runs').json()[0]['id']}" in greenroom(stage, "runs", "show", run_id).stdout
    )


def test_a_run_names_its_directory_model_and_branch(stage: Stage, repository: Path) -> None:
    ready(stage)
    run = stage.done("SAY here\nUSAGE 1 1", directory=str(repository), model="hamlet")
    assert (run["directory"], run["branch"], run["model"]) == (str(repository), "trunk", "hamlet")
    own = stage.done("SAY here")
    assert "/work/agt_" in own["directory"] and "branch" not in own


def test_a_run_gets_a_worktree_and_a_branch_of_its_own_if_it_is_asked_for(stage: Stage, repository: Path) -> None:
    ready(stage)
    stage.profile("open", approvals="never")
    fields = {"directory": str(repository), "worktree": True, "max_cost_usd": 5.0, "max_tokens": 1000}
    run = stage.done("SHELL git branch --show-current; pwd\nSAY {{output}}", profile="open", **fields)
    branch, folder = run["output"].split()
    assert (run["branch"], run["directory"], run["repository"]) == (branch, folder, str(repository))
    assert branch == f"greenroom/{run['agent_id']}" and folder != str(repository)
    tree = stage.api.get(f"/api/runs/{run['id']}/tree").json()["tree"]
    assert tree["limits"]["max_cost_usd"] == 5.0

    def branches() -> str:
        words = ["git", "-C", str(repository), "branch", "--list", "greenroom/*"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    stage.until(lambda: not branches(), "the branch without work to be removed")
    line = "git -c user.email=a@example.org -c user.name=a commit -q --allow-empty -m second"
    kept = stage.done(f"SHELL {line}", profile="open", **fields)
    assert kept["branch"] in branches(), "what was committed stays on its branch"
    again = continued(stage, kept["id"], "SHELL git log --format=%s\nSAY {{output}}")
    assert (again["output"].split(), again["branch"]) == (["second", "first"], kept["branch"])


def test_a_worktree_without_a_repository_is_refused_with_words(stage: Stage, tmp_path: Path) -> None:
    ready(stage)
    body = {"profile": "rehearsal", "prompt": "SAY x", "worktree": True}
    assert stage.api.post("/api/runs", json=body).json()["code"] == "bad_overrides"
    run = stage.done("SAY x", directory=str(tmp_path), worktree=True)
    assert run["status"] == "failed" and "git could not make a worktree" in run["error"]
