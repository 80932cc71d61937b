"""The pool: agents are new, kept and taken again, let go, and put to sleep, without losing their memory."""

from typing import Any

import psutil

from tests.rules.agents.test_invite import ready
from tests.stage import Stage


def agent_of(stage: Stage, run: dict[str, Any]) -> dict[str, Any]:
    found = stage.api.get("/api/agents").json()
    return next(dict(agent) for agent in found if agent["id"] == run["agent_id"])


def test_a_run_gets_a_new_agent_unless_it_names_one(stage: Stage) -> None:
    ready(stage)
    first = stage.done("SAY one", keep_as="ann")
    other = stage.done("SAY two")
    again = stage.done("RECALL", agent="ann")
    assert other["agent_id"] != first["agent_id"] == again["agent_id"]
    assert "prompts: 2" in again["output"], (first, again)


def test_an_agent_that_was_let_go_is_taken_up_again_with_its_memory(stage: Stage) -> None:
    ready(stage)
    first = stage.done("SAY one", keep_as="bob")
    stopped = stage.api.post("/api/agents/bob/stop")
    assert stopped.json() == {"agent_id": first["agent_id"], "name": "bob", "process": "asleep"}
    node = psutil.Process(int((stage.hub.data / "node" / "lock").read_text()))
    stage.until(lambda: not node.children(), "the process to be gone")
    again = stage.done("RECALL", agent="bob")
    assert again["agent_id"] == first["agent_id"]
    assert "prompts: 2, first: SAY one" in again["output"]


def test_an_agent_at_work_is_not_let_go(stage: Stage) -> None:
    ready(stage)
    run = stage.start("SLEEP 60", keep_as="cat")
    stage.until(lambda: stage.run(run)["status"] == "running", "the run")
    assert stage.api.post("/api/agents/cat/stop").status_code == 409
    stage.api.post(f"/api/runs/{run}/cancel", json={})


def test_an_idle_agent_is_put_to_sleep_and_wakes_with_its_memory(stage: Stage) -> None:
    ready(stage)
    stage.profile("short", idle_s=0)
    first = stage.done("SAY one", profile="short", keep_as="dot")
    assert first["output"] == "one", first
    again = stage.done("RECALL", profile="short", agent="dot")
    assert again["agent_id"] == first["agent_id"]
    assert "prompts: 2" in again["output"], (first, again)


def test_a_kept_agent_is_started_anew_when_its_profile_wants_another_process(stage: Stage) -> None:
    ready(stage)
    stage.profile("changing", approvals="never", env={"COLOUR": "red"})
    stage.done("SAY one", profile="changing", keep_as="ann")
    stage.profile("changing", approvals="never", env={"COLOUR": "green"})
    run = stage.done("SHELL echo $COLOUR", profile="changing", agent="ann")
    (call,) = stage.api.get(f"/api/runs/{run['id']}/calls").json()
    assert call["output"].strip() == "green"


def test_an_agent_goes_on_with_a_conversation_that_was_begun_elsewhere(stage: Stage) -> None:
    before = stage.done("SAY first")
    taken_up = stage.done("RECALL", session=before["session"], keep_as="taken up")
    assert taken_up["agent_id"] != before["agent_id"]
    assert "SAY first" in taken_up["output"] and "prompts: 2" in taken_up["output"]
    assert "prompts: 3" in stage.done("RECALL", agent="taken up")["output"]


def test_a_conversation_is_named_by_an_id_and_for_a_new_agent(stage: Stage) -> None:
    stage.done("SAY here", keep_as="lamp")
    for wrong in ({"session": "--help-me-out"}, {"session": "x" * 32, "agent": "lamp"}):
        answer = stage.api.post("/api/runs", json={"profile": "rehearsal", "prompt": "RECALL", **wrong})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_session"), answer.text
    gone = stage.done("RECALL", session="f" * 32)
    assert gone["status"] == "failed" and "There is no session" in gone["error"]
