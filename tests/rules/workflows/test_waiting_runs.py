"""A run that waits for people says so, and for which answers, wherever runs are shown."""

import asyncio
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.cli.shell import done
from tests.journeys.mcp_clients import connected
from tests.rules.workflows.plays import Play
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
GATE = {"id": "gate", "level": {"kind": "confirmed"}}


def until_waiting(play: Play, run_id: str, asks: int = 1) -> dict[str, Any]:
    def there() -> dict[str, Any] | None:
        run = play.run(run_id)
        return run if run.get("waiting") and len(run.get("waits_for", ())) == asks else None

    found: dict[str, Any] = play.stage.until(there, f"{run_id} to wait for {asks} answers")
    return found


def test_a_gate_makes_its_run_wait_until_it_is_answered(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start({"id": "say", "prompt": "SAY hello"}, {**GATE, "dependencies": ["say"]}, name="gated")
    ask_id = play.ask_of(run_id, "gate")
    run = until_waiting(play, run_id)
    assert run["status"] == "running"  # as clients know it
    (wait,) = run["waits_for"]
    assert (wait["ask_id"], wait["kind"], wait["step"]) == (ask_id, "gate", "gate")
    listed = stage.api.get("/api/workflow-runs", params={"workflow": "gated", "waiting": "true"}).json()
    assert [one["id"] for one in listed] == [run_id]
    assert stage.api.get("/api/workflow-runs", params={"workflow": "gated", "waiting": "false"}).json() == []
    row = next(row for row in done(stage.hub.data, "dag", "list").out.splitlines() if run_id in row)
    assert " waiting " in row
    assert run_id in done(stage.hub.data, "dag", "list", "--status", "waiting").out
    assert run_id not in done(stage.hub.data, "dag", "list", "--status", "running").out
    shown = done(stage.hub.data, "dag", "status", run_id).out
    assert "gated  waiting" in shown
    assert f"greenroom ask show {ask_id}" in shown
    assert done(stage.hub.data, "dag", "status", run_id, "--json").json["waits_for"] == [wait]
    stage.decide(ask_id, "approve")
    ended = play.end(run_id)
    assert (ended["status"], ended.get("waiting", False), ended.get("waits_for", [])) == ("completed", False, [])


def test_an_agent_that_asks_makes_its_workflow_wait_and_so_does_one_below_it(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start(
        {"id": "ask", "prompt": "SHELL ls /\nSAY done"},
        {"id": "deep", "prompt": "SPAWN rehearsal ASK Which port?"},
        name="asking",
    )
    run = until_waiting(play, run_id, 2)
    assert sorted((wait["step"], wait["kind"]) for wait in run["waits_for"]) == [
        ("ask", "permission"),
        ("deep", "question"),
    ]
    for wait in run["waits_for"]:
        stage.decide(wait["ask_id"], "approve" if wait["kind"] == "permission" else "answer", text="8080")
    assert play.end(run_id)["status"] == "completed"


def test_a_nested_workflow_that_waits_makes_the_one_around_it_wait(stage: Stage) -> None:
    play = Play(stage)
    inner = {"name": "inner", "steps": [{"id": "look", "profile": "rehearsal", "prompt": "SHELL ls /"}]}
    run_id = play.start({"id": "part", "workflow": "inner"}, name="outer", workflows={"inner": inner})
    outer = until_waiting(play, run_id)
    assert outer["waits_for"][0]["step"] == "part"
    nested = next(run for run in stage.api.get("/api/workflow-runs").json() if run.get("parent_id") == run_id)
    assert [wait["step"] for wait in nested["waits_for"]] == ["look"]
    # The nested step gives up while the ask is open: nobody waits any more, above neither.
    assert play.control(run_id, "abort").status_code == 200
    play.end(run_id)
    runs = [play.run(one) for one in (run_id, nested["id"])]
    assert [(run.get("waiting", False), run.get("waits_for", [])) for run in runs] == [(False, []), (False, [])]


def test_other_steps_work_on_while_one_waits_and_an_agent_that_is_cancelled_waits_no_more(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start(
        {"id": "ask", "prompt": "ASK Which port?", "on_error": "ignore"}, {"id": "work", "prompt": "SLEEP 600"}
    )
    until_waiting(play, run_id)
    agent_run = play.until(run_id, "ask", "running")["attempts"][-1]["agent_run"]
    stage.api.post(f"/api/runs/{agent_run}/cancel", json={})
    stage.until(lambda: not play.run(run_id).get("waiting"), "the run not to wait any more")
    assert play.run(run_id).get("waits_for", []) == []
    assert play.control(run_id, "abort").status_code == 200
    play.end(run_id)


def test_a_run_that_waits_for_a_call_waits_though_nobody_is_asked(stage: Stage) -> None:
    play = Play(stage)
    run_id = play.start({"id": "hold", "wait": {"webhook": "never"}}, name="held")
    play.until(run_id, "hold", "waiting")
    assert play.run(run_id)["waiting"] is True
    assert play.control(run_id, "pause").json().get("waiting", False) is False
    assert play.control(run_id, "resume").json()["waiting"] is True
    assert play.control(run_id, "signal", step="hold").status_code == 200
    assert play.end(run_id)["status"] == "completed"


def test_whom_a_run_waits_for_is_told_over_mcp(hub: HubProcess, api: httpx.Client) -> None:
    definition = {"name": "vote", "steps": [{**GATE, "level": {"kind": "confirmed", "stakeholders": ["ann"]}}]}
    run_id = api.post("/api/workflow-runs", json={"definition": definition}).json()["id"]

    async def play() -> Any:
        async with connected(hub.url, hub.token) as operator:
            return await operator.call("workflow_status", run_id=run_id, wait=False)

    wait_until(lambda: bool(api.get(f"/api/workflow-runs/{run_id}").json()["run"].get("waits_for")))
    told = asyncio.run(play())
    assert (told["status"], told["waiting"], told["waits_for"][0]["asked_of"]) == ("running", True, ["ann"])
    assert "gate waits for ann" in done(hub.data, "dag", "status", run_id).out
