"""Asks of agents at work: others go on, answers reach as far as they say, and what changed meanwhile counts."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.runs.conftest import end_node
from tests.runs.stage import Stage

FINISHES = """
import json, sys, time, urllib.request

token = open(sys.argv[1]).read().strip()
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"}

def call(session, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(sys.argv[2] + "/mcp", body, {**headers, **session})
    with urllib.request.urlopen(request) as answer:
        return answer.headers.get("mcp-session-id"), answer.read()

hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
session, _ = call({}, "initialize", hello)
given = {"project_directory": "/w", "summary": "all is painted"}
known = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
print(call(known, "tools/call", {"name": "task_finish", "arguments": given}))
time.sleep(600)
"""
"""A terminal program that tells the hub that it is done, and stays."""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def test_while_one_call_waits_everything_else_goes_on(stage: Stage) -> None:
    waiting = stage.start("SHELL touch one\nSAY done")
    asked = stage.asked()
    run = stage.run(waiting)
    assert (run["status"], run["waiting_for"]) == ("waiting", f"permission: {asked['title']}")
    assert stage.done("SAY meanwhile")["output"] == "meanwhile"
    assert stage.run(waiting)["status"] == "waiting"
    stage.decide(asked["id"], "approve")
    assert stage.end(waiting)["output"] == "done"


def test_a_yes_for_the_run_answers_the_next_like_call_and_says_what_made_it(stage: Stage) -> None:
    run_id = stage.start("SHELL touch one\nSHELL touch one\nSAY done")
    asked = stage.asked()
    stage.decide(asked["id"], "approve", scope="run")
    assert stage.end(run_id)["output"] == "done"
    every = stage.api.get("/api/asks", params={"state": "all", "run_id": run_id}).json()["asks"]
    assert [ask["id"] for ask in every] == [asked["id"]]
    judged = stage.api.get("/api/policy/judgements", params={"run_id": run_id}).text
    assert '"rule":"grant.' in judged


def test_ap_06_a_rule_that_came_after_the_question_counts_over_a_yes(stage: Stage) -> None:
    made = stage.hub.data.parent / "made"
    run_id = stage.start(f"SHELL touch {made}\nSAY went on")
    asked = stage.asked()
    rule = {"decision": "deny", "commands": ["touch *"]}
    stage.api.put("/api/policy/rules/no-touch", json={"rule": rule}).raise_for_status()
    assert stage.decide(asked["id"], "approve").status_code == 200
    stage.end(run_id)
    assert not made.exists()


def test_ap_12_many_that_wait_are_all_there_after_a_kill_and_each_runs_once(stage: Stage) -> None:
    folder = stage.hub.data.parent
    runs = [stage.start(f"SHELL echo x >> {folder / f'made{n}'}\nSAY done") for n in range(6)]

    def asked() -> list[str]:
        return [ask["id"] for ask in stage.api.get("/api/asks").json()["asks"]]

    stage.until(lambda: len(asked()) == len(runs), "all to ask")
    before = sorted(asked())
    stage.hub.kill()
    stage.hub.restart()
    assert sorted(asked()) == before
    batch = {"answers": [{"ask_id": one, "verdict": "approve"} for one in before]}
    results = stage.api.post("/api/asks/answers", json=batch).json()["results"]
    assert all(one["ok"] for one in results)
    for number, run_id in enumerate(runs):
        assert stage.end(run_id)["status"] == "completed"
        assert (folder / f"made{number}").read_text() == "x\n"


def test_a_question_of_a_run_is_shown_there_and_goes_with_it(stage: Stage) -> None:
    question = 'TOOL ask_question {"project_directory": "/w", "question": "Which colour?"}'
    run_id = stage.start(f"{question}\nSAY done")
    asked = stage.asked()
    assert (asked["run_id"], stage.run(run_id)["waiting_for"]) == (run_id, "question: Which colour?")
    stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
    gone = stage.api.get(f"/api/asks/{asked['id']}").json()
    assert (gone["state"], gone["reason"]) == ("withdrawn", "the run was cancelled")


def test_an_agent_in_a_terminal_ends_its_run_by_reporting(stage: Stage) -> None:
    program = stage.hub.data.parent / "finishes.py"
    program.write_text(FINISHES)
    command = [sys.executable, str(program), "{token_file}", "{bus_address}"]
    stage.profile("painter", driver="pty", command=command, options={"prompt": "none"})
    ended = stage.done("paint", profile="painter")
    assert (ended["status"], ended["output"]) == ("completed", "all is painted")
    (report,) = stage.api.get("/api/asks", params={"run_id": ended["id"]}).json()["asks"]
    assert (report["kind"], report["text"]) == ("report", "all is painted")
