"""Cancelling: at whatever moment it comes, nothing runs on and nothing starts after."""

import os
import random
import time

import pytest

from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.node.test_hygiene import marked
from tests.stage import Stage

ROUNDS = int(os.environ.get("CANCEL_ROUNDS", "3"))
LEAF = "SHELL setsid sleep 600 & sleep 600"
CHILDREN = 3
GRANDCHILDREN = 12


def grow(stage: Stage) -> str:
    """A tree of three levels and forty runs, that is started all at once; the root's id."""
    root = stage.start("SLEEP 600", profile="wide")
    for _ in range(CHILDREN):
        child = stage.start("SLEEP 600", profile="wide", parent_id=root)
        for _ in range(GRANDCHILDREN):
            stage.start(LEAF, profile="wide", parent_id=child)
    return root


def tree(stage: Stage, root: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = stage.api.get(f"/api/runs/{root}/tree").json()["runs"]
    return found


@pytest.mark.timeout(TEST_LIMIT_S + ROUNDS * 60)
def test_a_tree_cancelled_at_a_random_moment_leaves_no_process_and_no_open_run(stage: Stage) -> None:
    stage.profile("wide", approvals="never", max_children=GRANDCHILDREN)
    chance = random.Random(ROUNDS)
    for _ in range(ROUNDS):
        root = grow(stage)
        pause_s, began = chance.random() * 3, time.monotonic()
        stage.until(lambda pause_s=pause_s, began=began: time.monotonic() - began > pause_s, "the moment to cancel")
        assert stage.api.post(f"/api/runs/{root}/cancel", json={}).status_code == 200
        assert {run["status"] for run in tree(stage, root)} == {"cancelled"}
        late = stage.api.post("/api/runs", json={"profile": "wide", "prompt": "SAY x", "parent_id": root})
        assert (late.status_code, late.json()["code"]) == (409, "tree_cancelled")
        stage.until(lambda: not marked(stage), "no process to be left")
        assert len(tree(stage, root)) == 1 + CHILDREN + CHILDREN * GRANDCHILDREN
    assert stage.done("SAY still here")["output"] == "still here"


def test_a_cancel_right_after_the_start_wins(stage: Stage) -> None:
    stage.profile("open", approvals="never")
    made = stage.hub.data.parent / "made"
    for _ in range(10):
        run_id = stage.start(f"SLEEP 1\nSHELL touch {made}", profile="open")
        stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
        assert stage.run(run_id)["status"] == "cancelled"
    stage.until(lambda: not marked(stage), "no process to be left")
    assert not made.exists()


def test_an_agent_that_does_not_hear_a_cancel_is_ended(stage: Stage) -> None:
    run_id = stage.start("HANG", keep_as="bob")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
    stage.until(lambda: not marked(stage), "its process to be ended")
    assert stage.done("SAY again", agent="bob")["output"] == "again"


def test_an_agent_whose_process_is_stopped_is_ended_by_a_cancel(stage: Stage) -> None:
    stage.profile("open", approvals="never")
    run_id = stage.start("SHELL kill -STOP $PPID; sleep 600", profile="open")
    stage.until(lambda: stage.run(run_id)["status"] == "running" and len(marked(stage)) > 1, "the agent to stop itself")
    stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
    stage.until(lambda: not marked(stage), "its processes to be ended")


@pytest.mark.parametrize("fields", [{"keep": True}, {"keep_as": "ann"}])
def test_an_agent_takes_the_next_prompt_after_a_cancel(stage: Stage, fields: dict[str, object]) -> None:
    agent = stage.done("SAY one", **fields)["agent_id"]
    for _ in range(5):
        run_id = stage.start("SLEEP 600", agent=agent)
        following = stage.start("SAY next", agent=agent)
        stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
        assert stage.end(following).get("output") == "next"


def test_a_cancel_withdraws_what_waits_for_a_person(stage: Stage) -> None:
    run_id = stage.start("SHELL touch x")
    asked = stage.asked()
    stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
    assert stage.api.get("/api/asks").json()["asks"] == []
    assert stage.decide(asked["id"], "approve").status_code == 409
