"""Asks of agents at work: others go on, answers reach as far as they say, and what changed meanwhile counts."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.stage import Stage

FINISHES = """
import json, sys, urllib.request

token = open(sys.argv[1]).read().strip()
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"}

def call(session, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(sys.argv[2] + "/mcp", body, {**headers, **session})
    with urllib.request.urlopen(request) as answer:
        return answer.headers.get("mcp-session-id"), answer.read()

print("at work:", sys.stdin.readline())
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
session, _ = call({}, "initialize", hello)
known = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
summary = "all is painted"
while True:
    given = {"project_directory": "/w", "summary": summary}
    print(call(known, "tools/call", {"name": "task_finish", "arguments": given}))
    summary = f"did as told: {sys.stdin.readline().strip()}"
"""
"""A terminal program that tells the hub that it is done, and does the next thing that is typed."""


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


def test_ap_09_an_answer_that_is_sent_again_after_a_restore_runs_nothing_again(stage: Stage) -> None:
    made, saved = stage.hub.data.parent / "made", stage.hub.data.parent / "saved.tar"
    run_id = stage.start(f"SHELL echo once >> {made}\nSAY done")
    asked = stage.asked()
    done(stage.hub.data, "backup", str(saved))
    assert stage.decide(asked["id"], "approve").status_code == 200
    assert stage.end(run_id)["status"] == "completed"
    stage.hub.stop()
    end_node(stage.hub.data)
    done(stage.hub.data, "restore", str(saved), "--force")
    stage.hub.start(stage.hub.port)
    stage.api.headers["Authorization"] = f"Bearer {stage.hub.token}"
    assert stage.decide(asked["id"], "approve").status_code in (200, 409)
    assert stage.end(run_id)["status"] in ("interrupted", "failed")
    assert made.read_text() == "once\n"


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
    for one in before:
        assert stage.decide(one, "approve").status_code == 200
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


def reported(stage: Stage, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run of an agent in a terminal that has ended with a report, and the report."""
    program = stage.hub.data.parent / "finishes.py"
    program.write_text(FINISHES)
    command = [sys.executable, str(program), "{token_file}", "{bus_address}"]
    stage.profile("painter", driver="pty", command=command)
    ended = stage.done("paint", profile="painter", **fields)
    assert (ended["status"], ended["output"]) == ("completed", "all is painted")
    (report,) = stage.api.get("/api/asks", params={"run_id": ended["id"]}).json()["asks"]
    assert (report["kind"], report["text"]) == ("report", "all is painted")
    return ended, report


def test_words_on_the_report_of_an_agent_in_a_terminal_are_its_next_prompt(stage: Stage) -> None:
    first, report = reported(stage, keep_as="painter")
    answered = stage.decide(report["id"], "answer", text="now the door")
    assert answered.status_code == 200, answered.text
    (following,) = [run for run in stage.api.get("/api/runs").json() if run["id"] != first["id"]]
    assert (following["prompt"], following["agent_id"]) == ("now the door", first["agent_id"])
    assert stage.end(following["id"])["output"] == "did as told: now the door"
    again = stage.asked()
    assert (again["run_id"], again["text"]) == (following["id"], "did as told: now the door")
    assert stage.decide(again["id"], "approve", text="thank you").status_code == 200
    assert len(stage.api.get("/api/runs").json()) == 2, "a yes asks for nothing more"


def test_who_answers_a_report_whose_agent_has_ended_is_told_that_it_reaches_nobody(stage: Stage) -> None:
    _, report = reported(stage)
    answered = stage.decide(report["id"], "answer", text="now the door").json()
    assert "your words reach nobody: the agent has ended" in answered["reason"]
    assert stage.api.get(f"/api/asks/{report['id']}").json()["reason"] == answered["reason"]
    assert len(stage.api.get("/api/runs").json()) == 1
