"""A hub that is upgraded in place keeps what it has: threads, open asks, runs at work and waiting workflows."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT
from tests.cli.shell import done
from tests.conftest import assert_in_order, end_node
from tests.rules.workflows.plays import Play
from tests.stage import Stage

PREVIOUS = "a92fbd3d7dedd5ccfd5a615b981348c048f2a7fb"
"""The previous version: the commit before rules and services were split."""
WITH_NODE = {"GREENROOM_LOCAL_NODE": "1"}


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the previous version; they need what is installed for the present one, and nothing else."""
    folder = tmp_path_factory.mktemp("previous")
    archive = folder / "src.tar"
    made = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "--output", str(archive), PREVIOUS, "src"],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    if made.returncode:
        skip_or_fail(f"the history of this clone does not reach back to {PREVIOUS[:7]} ({made.stderr.strip()})")
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], timeout=WAIT_S, check=True)
    loaded = subprocess.run(
        [sys.executable, "-c", "import greenroom; print(greenroom.__file__)"],
        env={"PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    assert Path(loaded.stdout.strip()).is_relative_to(folder)
    return folder / "src"


@pytest.fixture
def hub(tmp_path: Path, previous: Path) -> Iterator[HubProcess]:
    """A hub of the previous version, with a node."""
    hub = HubProcess(tmp_path / "data", env={**WITH_NODE, "PYTHONPATH": str(previous)}).start()
    try:
        yield hub
    finally:
        code = hub.stop()
        end_node(hub.data)
    assert_in_order(hub, code)


class Before:
    """What a hub of the previous version was left with."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.gate = folder / "open"
        begun = folder / "begun"
        stage.until(stage.has_node, "the node of the hub")
        stage.profile("open", approvals="never")
        thread_id = stage.api.post("/api/threads", json={"topic": "plans"}).json()["id"]
        for number in range(20):
            body = {"author": "human", "content": f"message {number}"}
            stage.api.post(f"/api/threads/{thread_id}/messages", json=body).raise_for_status()
        self.asking = stage.start("SHELL touch green\nSAY it is green")
        wait = f"SHELL touch {begun}; until [ -e {self.gate} ]; do sleep 0.1; done"
        self.working = stage.start(f"{wait}\nSAY over", profile="open")
        play = Play(stage)
        self.workflow = play.start(
            {"id": "first", "prompt": "SAY one"},
            {"id": "hold", "wait": {"webhook": "go"}, "dependencies": ["first"]},
            {"id": "last", "prompt": "SAY two", "dependencies": ["hold"]},
        )
        play.until(self.workflow, "hold", "waiting")
        self.ask = stage.asked()["id"]
        stage.until(begun.exists, "the run to be at work")
        self.threads = _read_threads(stage)


def _read_threads(stage: Stage) -> dict[str, Any]:
    """Every thread by its id, with all of its messages."""
    found = stage.api.get("/api/threads", params={"limit": 100}).json()["threads"]
    kept = ("id", "topic", "status", "created_at")
    return {
        thread["id"]: (
            {name: thread[name] for name in kept},
            stage.api.get(f"/api/threads/{thread['id']}/messages", params={"limit": 200}).json(),
        )
        for thread in found
    }


def _read_said(stage: Stage, run_id: str) -> str:
    return "".join(item["data"]["text"] for item in stage.items(run_id) if item["kind"] == "said")


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_a_hub_that_is_upgraded_in_place_keeps_what_it_has(hub: HubProcess, tmp_path: Path, ending: str) -> None:
    with Stage(hub) as stage:
        before = Before(stage, tmp_path)
    hub.stop() if ending == "stopped" else hub.kill()
    hub.restart(env=WITH_NODE)
    with Stage(hub) as stage:
        assert _read_threads(stage) == before.threads
        stage.until(stage.has_node, "the node to be back")
        assert [ask["id"] for ask in stage.api.get("/api/asks").json()["asks"]] == [before.ask]
        stage.decide(before.ask, "approve").raise_for_status()
        assert stage.end(before.asking)["status"] == "completed"
        assert "it is green" in _read_said(stage, before.asking)
        assert stage.run(before.working)["status"] == "running"
        before.gate.touch()
        assert stage.end(before.working)["status"] == "completed"
        assert "over" in _read_said(stage, before.working)
        play = Play(stage)
        assert play.control(before.workflow, "signal", step="hold").status_code == 200
        assert play.end(before.workflow)["status"] == "completed"
        assert _read_threads(stage) == before.threads
    done(hub.data, "check")
