"""Agents start agents with the hub's tools: several at once, each with its answer, and tickets for those that last."""

import json
from typing import Any

import pytest

from tests.cli.shell import done
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def answer(stage: Stage, tool: str, arguments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What an agent gets that calls a tool in a run of its own."""
    run = stage.done(f"TOOL {tool} {json.dumps(arguments)}", **fields)
    (finished,) = [item for item in stage.items(run["id"]) if item["kind"] == "call_finished"]
    found: dict[str, Any] = json.loads(finished["data"]["output"])
    return found


def task(prompt: str, profile: str = "rehearsal") -> dict[str, str]:
    return {"profile": profile, "prompt": prompt}


def test_several_agents_work_at_once_and_their_answers_come_together_in_order(stage: Stage) -> None:
    stage.profile("open", approvals="never")
    here = stage.hub.data.parent

    def meeting(own: str, other: str) -> str:
        until = f"i=0; while [ ! -e {here / other} ] && [ $i -lt 200 ]; do i=$((i+1)); sleep 0.1; done"
        return f"SHELL touch {here / own}; {until}; test -e {here / other} && echo met\nSAY {own} is done"

    tasks = [task(meeting("left", "right"), "open"), task(meeting("right", "left"), "open"), task("FAIL no luck")]
    runs = answer(stage, "spawn_agent", {"tasks": tasks}, profile="open")["runs"]
    assert [run["status"] for run in runs] == ["completed", "completed", "failed"]
    assert ["left is done" in runs[0]["output"], "right is done" in runs[1]["output"]] == [True, True]
    assert runs[2]["error"] == "no luck"
    met = [item["data"] for run in runs[:2] for item in stage.items(run["run_id"]) if item["kind"] == "call_finished"]
    assert all("met" in data["output"] for data in met), met


def test_one_of_several_that_is_refused_costs_the_others_nothing(stage: Stage) -> None:
    stage.profile("narrow", max_children=2)
    tasks = [task("SLEEP 2\nSAY one"), task("SAY two", "nobody"), task("SLEEP 2\nSAY three"), task("SAY four")]
    runs = answer(stage, "spawn_agent", {"tasks": tasks}, profile="narrow")["runs"]
    assert [run["status"] for run in runs] == ["completed", "refused", "completed", "refused"]
    assert "There is no profile 'nobody'" in runs[1]["error"]
    assert runs[3]["code"] == "too_many_children"
    assert [run.get("output") for run in runs] == ["one", None, "three", None]


def test_when_all_are_refused_the_call_is(stage: Stage) -> None:
    refused = stage.done(f"TOOL spawn_agent {json.dumps({'tasks': [task('SAY x', 'nobody')]})}")
    assert "There is no profile 'nobody'" in refused["output"]


def test_a_ticket_is_redeemed_when_the_agent_is_done(stage: Stage) -> None:
    at_once = {**task("SLEEP 1\nSAY late\nUSAGE 7 3"), "wait": False}
    run = stage.done(f"TOOL spawn_agent {json.dumps(at_once)}\n" + 'TOOL run_status {"run_id": "{{run_id}}"}')
    ticket, redeemed = (
        json.loads(item["data"]["output"]) for item in stage.items(run["id"]) if item["kind"] == "call_finished"
    )
    assert "run_status" in ticket["next"]
    assert ticket["output"] is None
    assert (redeemed["run_id"], redeemed["status"], redeemed["output"]) == (ticket["run_id"], "completed", "late")
    assert redeemed["usage"] == {"input_tokens": 7, "output_tokens": 3, "cost_usd": None}
    assert "next" not in redeemed


def test_a_cancel_of_one_run_alone_leaves_those_below_it_at_work(stage: Stage) -> None:
    stage.profile("open", approvals="never")
    flag = stage.hub.data.parent / "flag"
    wait = f"SHELL i=0; while [ ! -e {flag} ] && [ $i -lt 300 ]; do i=$((i+1)); sleep 0.1; done; echo seen"
    parent = stage.start(f"SPAWN open {wait}\\nSAY done", profile="open")

    def child() -> dict[str, Any] | None:
        runs = stage.api.get(f"/api/runs/{parent}/tree").json()["runs"]
        return next((one for one in runs if one.get("parent_id") == parent and one["status"] == "running"), None)

    below = stage.until(child, "the child to be at work")
    assert done(stage.hub.data, "runs", "cancel", parent, "--only").out == f"{parent} is cancelled\n"
    late = stage.api.post("/api/runs", json={**task("SAY x"), "parent_id": parent})
    assert (late.status_code, late.json()["code"]) == (409, "tree_cancelled")
    assert stage.run(below["id"])["status"] == "running"
    flag.touch()
    assert stage.end(below["id"])["output"] == "done"


def test_a_cancel_says_by_its_option_what_it_does_anyway(stage: Stage) -> None:
    parent = stage.start("SPAWN rehearsal SLEEP 600")
    stage.until(lambda: len(stage.api.get(f"/api/runs/{parent}/tree").json()["runs"]) == 2, "the child")
    done(stage.hub.data, "runs", "cancel", parent, "--cascade")
    runs = stage.api.get(f"/api/runs/{parent}/tree").json()["runs"]
    assert {run["status"] for run in runs} == {"cancelled"}
