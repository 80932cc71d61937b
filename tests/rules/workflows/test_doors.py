"""Workflows from the command line, over MCP, the sync socket and the frames of run-tree clients."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import connect

from greenroom.doors.sync.socket import PATH
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, greenroom
from tests.doors.compat.run_tree.test_ws import socket, until
from tests.journeys.mcp_clients import connected
from tests.stage import Stage

PLAN = """
name: greet
description: Says hello.
inputs:
  who: {type: string}
steps:
  - id: think
    set: {name: "inputs.who", letters: "size(inputs.who)"}
  - id: each
    dependencies: [think]
    for_each: {items: "[1, 2, 3]"}
    set: {twice: "item * 2"}
  - id: hold
    dependencies: [each]
    wait: {webhook: never}
  - id: end
    dependencies: [hold]
    set: {all: "steps.each.output.map(one, one.twice)"}
output: steps.end.output.all
"""


def plan(tmp_path: Path) -> Path:
    file = tmp_path / "greet.yaml"
    file.write_text(PLAN)
    return file


def test_a_file_is_run_steered_and_reported_from_the_command_line(hub: HubProcess, tmp_path: Path) -> None:
    file = plan(tmp_path)
    run_id = done(hub.data, "dag", "run", str(file), "--input", "who=Ann", "--detach").out.strip()
    assert done(hub.data, "dag", "pause", run_id, "--reason", "lunch").out.strip() == f"{run_id} is paused"
    assert "lunch" in done(hub.data, "dag", "status", run_id).out
    assert done(hub.data, "dag", "resume", run_id, "--json").json["status"] == "running"
    amended = greenroom(hub.data, "dag", "amend", run_id, "end", "--set", 'set={"all": "[0]"}')
    assert amended.code == 0, amended.err
    done(hub.data, "dag", "signal", run_id, "hold", "--value", '{"ok": true}')
    shown = done(hub.data, "dag", "follow", run_id, "--json").json
    assert (shown["status"], shown["output"]) == ("completed", [0])
    again = done(hub.data, "dag", "retry", run_id, "--from", "hold").out
    assert "running" in again
    assert done(hub.data, "dag", "abort", run_id).out.strip() == f"{run_id} is cancelled"
    report = done(hub.data, "dag", "report", run_id, "--json").json
    steps = {step["id"]: step for step in report["steps"]}
    assert [one["number"] for one in steps["hold"]["attempts"]] == [1, 2]
    assert steps["each[1]"]["output"] == {"twice": 4}
    assert run_id in done(hub.data, "dag", "list").out
    assert "greet" in done(hub.data, "dag", "list", "--workflows").out
    assert "each" in done(hub.data, "dag", "report", run_id).out


def test_a_workflow_is_kept_as_it_was_written(hub: HubProcess, api: httpx.Client, tmp_path: Path) -> None:
    file = plan(tmp_path)
    file.write_text("# Why it is so.\n" + PLAN)
    done(hub.data, "dag", "run", str(file), "--input", "who=Ann", "--detach")
    shown = api.get("/api/workflows/greet").json()
    assert shown["text"] == file.read_text()
    other = shown["text"].replace("Why it is so", "Why it is still so")
    put = api.put("/api/workflows/greet", json={"text": other, "version": 1}).json()
    assert (put["version"], put["digest"]) == (shown["workflow"]["version"] + 1, shown["workflow"]["digest"])
    assert api.get("/api/workflows/greet").json()["text"] == other
    api.put("/api/workflows/greet", json={"definition": shown["definition"]})
    assert api.get("/api/workflows/greet").json()["text"] == other


def test_wrong_files_and_inputs_are_refused_in_words(hub: HubProcess, tmp_path: Path) -> None:
    file = plan(tmp_path)
    missing = greenroom(hub.data, "dag", "run", str(file), "--wait")
    assert (missing.code, "'who' is missing" in missing.err) == (1, True)
    file.write_text(PLAN.replace("[think]", "[thonk]"))
    wrong = greenroom(hub.data, "dag", "run", str(file), "--input", "who=Ann")
    assert wrong.code == 1
    assert "greet.yaml:" in wrong.err
    assert "thonk" in wrong.err
    assert greenroom(hub.data, "dag", "status", "wfr_none").code == 1


def test_agents_of_a_run_are_listed_and_their_words_shown(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    file.write_text("name: talk\nsteps:\n  - {id: hello, profile: rehearsal, prompt: SAY hello there}\n")
    ran = done(stage.hub.data, "dag", "run", str(file), "--wait", "--json").json
    assert (ran["status"], ran["output"]) == ("completed", {"hello": "hello there"})
    run_id = ran["run_id"]
    sessions = done(stage.hub.data, "dag", "sessions", run_id, "--json").json
    agents = done(stage.hub.data, "agent", "list", "--dag-run", run_id, "--json").json
    assert [one["agent_id"] for one in sessions] == [agent["id"] for agent in agents]
    assert "hello there" in done(stage.hub.data, "dag", "logs", run_id).out


def test_a_run_tree_client_starts_a_workflow_and_is_told_how_it_goes(stage: Stage) -> None:
    definition = {
        "id": "wf-7",
        "name": "Write and check",
        "description": "",
        "projectId": "p",
        "steps": [
            {"id": "write", "agentId": "rehearsal", "name": "Write", "inputMapping": {"prompt": "input"}},
            {"id": "check", "agentId": "rehearsal", "name": "Check"},
        ],
        "edges": [{"from": "write", "to": "check"}],
    }
    put = stage.api.put("/api/workflows/wf-7", json={"definition": definition})
    assert put.status_code == 200, put.text
    with socket(stage) as ws:
        ws.send(json.dumps({"type": "workflow_start", "workflowId": "wf-7", "sessionId": "s", "input": "SAY words"}))
        first = until(ws, lambda frame: frame["type"] in ("workflow_update", "error"))
        assert first["type"] == "workflow_update", first
        ended = until(ws, lambda frame: frame["type"] == "workflow_update" and frame["status"] != "running")
    assert (ended["workflowId"], ended["status"]) == ("wf-7", "completed"), ended
    assert ended["completedSteps"] == ["write", "check"]
    assert (ended["runningSteps"], ended["pendingSteps"]) == ([], [])


def test_a_run_tree_clients_conditions_and_mappings_see_the_fields_of_an_agents_answer(
    stage: Stage, tmp_path: Path
) -> None:
    definition = {
        "id": "wf-8",
        "name": "Judge and mend",
        "description": "",
        "projectId": "p",
        "steps": [
            {"id": "judge", "agentId": "rehearsal", "name": 'SAY I think: {"score": 3, "advice": "SAY mended"}'},
            {
                "id": "mend",
                "agentId": "rehearsal",
                "name": "Mend",
                "inputMapping": {"prompt": "judge.advice"},
                "outputMapping": {"text": "result.text"},
                "condition": "judge.score < 5 && variables.strict === true",
                "retryPolicy": {"maxRetries": 1, "backoffMs": 100},
            },
            {"id": "praise", "agentId": "rehearsal", "name": "SAY well done"},
        ],
        "edges": [{"from": "judge", "to": "mend"}, {"from": "judge", "to": "praise", "condition": "judge.score > 7"}],
        "variables": {"strict": True},
    }
    file = tmp_path / "judge.json"
    file.write_text(json.dumps(definition))
    ran = done(stage.hub.data, "dag", "run", str(file), "--wait", "--json").json
    assert {step["id"]: step["status"] for step in ran["steps"]} == {
        "judge": "completed",
        "mend": "completed",
        "praise": "skipped",
    }
    assert ran["output"] == {"mend": {"text": "mended"}}


def test_workflows_are_started_and_steered_over_mcp(hub: HubProcess, api: httpx.Client) -> None:
    async def play() -> Any:
        async with connected(hub.url, hub.token) as operator:
            (known,) = (await operator.call("workflow_list"))["workflows"]
            assert (known["name"], known["inputs"]["who"]["type"]) == ("greet", "string")
            run = await operator.call("workflow_start", workflow="greet", inputs={"who": "Ann"}, wait=False)
            assert (run["status"], "workflow_status" in run["next"]) == ("running", True)
            await asyncio.to_thread(_until_held, api, run["run_id"])
            await operator.call("workflow_control", run_id=run["run_id"], action="signal", step="hold")
            return await operator.call("workflow_status", run_id=run["run_id"])

    assert api.put("/api/workflows/greet", json={"text": PLAN}).status_code == 200
    ended = asyncio.run(play())
    assert (ended["status"], ended["output"]) == ("completed", [2, 4, 6])


def _until_held(api: httpx.Client, run_id: str) -> None:
    """A signal is for a step that waits for it."""

    def held() -> bool:
        steps = api.get(f"/api/workflow-runs/{run_id}").json()["steps"]
        return any(step["id"] == "hold" and step["status"] == "waiting" for step in steps)

    wait_until(held)


def test_the_sync_socket_shows_a_run_as_it_goes_on(hub: HubProcess, tmp_path: Path) -> None:
    run_id = done(hub.data, "dag", "run", str(plan(tmp_path)), "--input", "who=Ann", "--detach").out.strip()
    headers = {"Authorization": f"Bearer {hub.token}"}
    seen: dict[str, dict[str, Any]] = {}
    with connect(hub.url.replace("http", "ws", 1) + PATH, additional_headers=headers) as ws:
        ws.send(json.dumps({"op": "subscribe", "id": 1, "view": "workflow", "key": run_id}))
        done(hub.data, "dag", "signal", run_id, "hold")
        while seen.get("workflow_run", {}).get("status") != "completed":
            for row in _rows(json.loads(ws.recv(timeout=WAIT_S))):
                seen[row[0]] = row[1]
    assert seen["workflow_run"]["output"] == [2, 4, 6]


def _rows(frame: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    rows = frame.get("rows") or []
    return [(row["table"], row["row"]) for row in rows if row.get("row") is not None]
