"""Programs that are killed while agents work."""

import contextlib
import os
import re
import signal
from pathlib import Path

import psutil

from greenroom.testing.timeouts import WAIT_S
from tests.conftest import staged
from tests.stage import Stage


def node_pid(stage: Stage) -> int:
    return int((stage.hub.data / "node" / "lock").read_text())


def test_a_hub_that_is_killed_interrupts_no_agent_and_has_all_they_said(stage: Stage) -> None:
    runs = [stage.start("SAY a\nSLEEP 2\nSAY b\nSLEEP 1\nSAY c") for _ in range(5)]
    stage.until(lambda: all(stage.run(run)["status"] == "running" for run in runs), "all to be at work")
    stage.hub.kill()
    stage.hub.restart()
    for run in runs:
        ended = stage.end(run)
        assert ended["status"] == "completed", ended
        items = stage.items(run)
        assert [item["number"] for item in items] == list(range(1, len(items) + 1))
        said = "".join(item["data"]["text"] for item in items if item["kind"] == "said")
        assert said.split() == ["a", "b", "c"]


def test_a_node_that_is_killed_interrupts_its_runs_and_a_resume_goes_on(stage: Stage) -> None:
    stage.done("SAY before", keep_as="bob")
    run_id = stage.start("SAY begun\nSLEEP 600", agent="bob")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    before = node_pid(stage)
    children = psutil.Process(before).children(recursive=True)
    os.kill(before, signal.SIGKILL)
    assert stage.end(run_id)["status"] == "interrupted"
    _, alive = psutil.wait_procs(children, timeout=WAIT_S)
    assert not alive
    resumed = stage.api.post(f"/api/runs/{run_id}/resume", json={"prompt": "RECALL"}).json()
    assert (resumed["continues"], stage.run(run_id)["continued_in"]) == (run_id, resumed["id"])
    ended = stage.end(resumed["id"])
    assert (ended["status"], ended["agent_id"]) == ("completed", stage.run(run_id)["agent_id"])
    assert "SAY before" in ended["output"]


_STARTED_AGAIN = re.compile(r"the local node was killed \(SIGKILL\); it is started again (?:now|in ([\d.]+) s)")


def is_connected(stage: Stage, after: int = 0) -> bool:
    """Whether the node is there; and no longer the process `after`, which the hub may not have missed yet."""
    connected = any(node.get("state") == "connected" for node in stage.api.get("/api/nodes").json())
    return connected and node_pid(stage) != after


def test_a_local_node_that_is_killed_again_and_again_is_started_within_seconds(stage: Stage) -> None:
    killed = 0
    for number in range(1, 6):
        stage.until(lambda pid=killed: is_connected(stage, after=pid), "the node to be there")
        killed = node_pid(stage)
        os.kill(killed, signal.SIGKILL)
        stage.until(lambda least=number: len(_STARTED_AGAIN.findall(stage.hub.stderr)) >= least, "it to be said")
    assert max(float(seconds or 0) for seconds in _STARTED_AGAIN.findall(stage.hub.stderr)) <= 5
    assert stage.done("SAY back")["output"] == "back"


def test_a_local_node_that_could_not_be_started_is_started_once_it_can_be(tmp_path: Path) -> None:
    in_the_way = tmp_path / "data" / "node" / "node.log"
    in_the_way.mkdir(parents=True)
    with contextlib.contextmanager(staged)(tmp_path, awaits_node=False) as stage:
        stage.until(lambda: "the local node cannot be started now" in stage.hub.stderr, "the hub to try")
        in_the_way.rmdir()
        assert stage.done("SAY here after all")["output"] == "here after all"
