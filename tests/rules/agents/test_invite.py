"""Invitations: what the caller is told, what the agent finds, and what the audit keeps."""

import json
from typing import Any

from tests.stage import Stage


def thread_of(stage: Stage, topic: str) -> str:
    made = stage.api.post("/api/threads", json={"topic": topic})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def audit(stage: Stage, kind: str) -> list[dict[str, Any]]:
    events = stage.api.get("/api/audit", params={"limit": 1000}).json()["events"]
    return [event for event in events if event["type"] == kind]


def ready(stage: Stage) -> None:
    """The node has told what it can run."""
    stage.until(lambda: stage.api.get("/api/nodes").json()[0].get("drivers"), "the node")


def test_an_invited_agent_is_in_the_thread_reads_it_and_answers(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "plans")
    stage.api.post(f"/api/threads/{thread}/messages", json={"content": "who is there?"})
    script = f'TOOL bus_connect {{"thread_id": "{thread}"}}\nPOST {thread} I am'
    answer = stage.api.post(f"/api/threads/{thread}/invite", json={"agent_name": "rehearsal", "prompt": script})
    told = answer.json()
    assert (answer.status_code, told["ok"], told["agent_name"]) == (201, True, "rehearsal")
    assert stage.end(told["run_id"])["status"] == "completed"
    said = stage.api.get(f"/api/threads/{thread}/messages").json()
    assert [(m["content"], m["author_id"]) for m in said][-1] == ("I am", told["agent_id"])
    (call, _) = stage.api.get(f"/api/runs/{told['run_id']}/calls").json()
    assert "who is there?" in call["output"]


def test_the_audit_tells_who_invited_whom_into_which_thread_and_what_came_of_it(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "audited")
    invite = f"/api/threads/{thread}/invite"
    good = stage.api.post(invite, json={"agent_name": "rehearsal", "prompt": "FAIL no"}).json()
    bad = stage.api.post(invite, json={"agent_name": "nobody"})
    assert (bad.status_code, bad.json()["ok"], bad.json()["command_executed"]) == (409, False, "")
    assert "nobody" in bad.json()["reason"]
    stage.end(good["run_id"])
    invited = audit(stage, "AgentInvited")
    assert [(e["data"]["agent_name"], e["data"]["thread_id"]) for e in invited] == [
        ("rehearsal", thread),
        ("nobody", thread),
    ]
    ended = stage.until(lambda: len(found := audit(stage, "InvitationEnded")) == 2 and found, "the outcomes")
    assert {(e["data"]["agent_name"], e["data"]["status"]) for e in ended} == {
        ("nobody", "refused"),
        ("rehearsal", "failed"),
    }


def test_the_command_that_is_told_has_its_placeholders_filled(stage: Stage) -> None:
    ready(stage)
    stage.profile("named", command=["python3", "--thread", "{thread_id}", "--topic", "{thread_topic}"])
    thread = thread_of(stage, "two words")
    told = stage.api.post(f"/api/threads/{thread}/invite", json={"agent_name": "named"}).json()
    assert told["command_executed"] == f"python3 --thread {thread} --topic 'two words'"
    assert stage.end(told["run_id"])["status"] == "failed"


def test_the_list_of_agents_tells_who_can_be_invited(stage: Stage) -> None:
    ready(stage)
    stage.profile("off", enabled=False)
    listed = {agent["name"]: agent for agent in stage.api.get("/api/agents").json()}
    assert "off" not in listed
    rehearsal = listed["rehearsal"]
    assert (rehearsal["is_online"], rehearsal["is_invitable"], rehearsal["is_available"]) == (False, True, True)


def test_a_command_that_hangs_is_ended_after_its_time_with_what_it_said(stage: Stage) -> None:
    config = stage.hub.data / "config" / "available-agents.json"
    config.parent.mkdir()
    hangs = {"invoke_command": "bash -c 'echo begun; sleep 600'", "timeout_seconds": 1}
    config.write_text(json.dumps({"agents": [{"name": "hangs", **hangs}]}))
    stage.until(lambda: stage.api.get("/api/profiles/hangs").status_code == 200, "the profile")
    ready(stage)
    thread = thread_of(stage, "hanging")
    invited = stage.api.post(f"/api/threads/{thread}/invite", json={"agent_name": "hangs"}).json()
    ended = stage.end(invited["run_id"])
    assert (ended["status"], ended["error"]) == ("failed", "the command did not end within 1 s")
    assert ended["output"] == "begun\n"
    assert stage.api.get("/api/asks").json()["asks"] == []


def test_a_process_that_does_not_outlast_a_pause_fails_its_run_with_the_limit(stage: Stage) -> None:
    stage.profile("hangs", driver="command", command=["sleep", "600"], timeout_s=1)
    ended = stage.done("x", profile="hangs")
    assert ended["status"] == "failed"
    assert ended["error"].startswith("limit: 1 s of time are used; the agent's process ended")
