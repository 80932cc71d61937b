"""Which node a run goes to."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.far_node import FarNode
from tests.stage import Stage


@pytest.fixture
def far(stage: Stage, tmp_path: Path) -> Iterator[FarNode]:
    node = FarNode(stage, tmp_path, "far", "--label", "gpu", "--capacity", "2")
    yield node
    node.stop()


def test_a_label_sends_a_run_to_the_node_that_has_it(stage: Stage, far: FarNode) -> None:
    far.start(stage.hub.url).wait_for("connected")
    stage.profile("heavy", labels=["gpu"])
    assert stage.done("SAY x", profile="heavy")["node_id"] == far.id


def test_a_pinned_run_waits_for_its_node_and_goes_to_no_other(stage: Stage, far: FarNode) -> None:
    stage.done("SAY the local node is there")
    run_id = stage.start("SAY x", node="far")
    assert (stage.run(run_id)["status"], stage.run(run_id).get("node_id")) == ("pending", None)
    other = stage.done("SAY y")
    assert other["node_id"] != far.id
    far.start(stage.hub.url)
    assert stage.end(run_id)["node_id"] == far.id


def test_runs_beyond_a_nodes_capacity_wait_their_turn(stage: Stage, far: FarNode) -> None:
    far.start(stage.hub.url).wait_for("connected")
    runs = [stage.start("SLEEP 1\nSAY x", node="far") for _ in range(5)]
    assert sum(stage.run(run_id).get("node_id") is None for run_id in runs) == 3
    assert {stage.end(run_id)["output"] for run_id in runs} == {"x"}


@pytest.mark.parametrize(
    ("fields", "code"), [({"labels": ["moon"]}, "no_node"), ({"node": "nowhere"}, "node_not_found")]
)
def test_a_run_that_no_node_can_take_is_refused(stage: Stage, fields: dict[str, object], code: str) -> None:
    stage.done("SAY the local node is there")
    stage.profile("picky", **fields)
    answer = stage.api.post("/api/runs", json={"profile": "picky", "prompt": "SAY x"})
    assert answer.json()["code"] == code


@pytest.mark.anywhere
def test_a_program_named_by_its_path_need_not_be_where_nodes_look(stage: Stage, tmp_path: Path) -> None:
    stage.done("SAY the local node is there")
    program = tmp_path / "own" / "gemini"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m greenroom.rehearsal "$@"\n')
    program.chmod(0o755)
    stage.profile("own", driver="gemini", command=[str(program)])
    stage.profile("gone", driver="gemini", command=[str(tmp_path / "gone")])
    listed = {one["name"]: one["is_invitable"] for one in stage.api.get("/api/profiles").json()}
    assert (listed["own"], listed["gemini"]) == (True, False)
    assert stage.done("SAY found", profile="own")["output"] == "found"
    checked = {one["name"]: one for one in stage.api.get("/api/profile-check").json()["profiles"]}
    assert checked["own"]["ok"]
    assert "is not an executable file on the node" in checked["gone"]["nodes"][0]["problems"][0]
    assert "could not be started" in stage.done("SAY x", profile="gone")["error"]
