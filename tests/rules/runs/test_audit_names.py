"""The audit names who did something: the agent whose call it was, and the person who answered."""

from typing import Any

import pytest

from tests.cli.shell import done
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def audited(stage: Stage, kind: str, run_id: str) -> dict[str, Any]:
    """The entry of this kind that is about a run."""
    events = stage.api.get("/api/audit", params={"type": kind, "limit": 1000}).json()["events"]
    (found,) = [event for event in events if run_id in str(event["data"])]
    return dict(found)


def test_the_call_of_an_agent_is_audited_under_its_name_with_its_node(stage: Stage) -> None:
    stage.api.put("/api/me/name", json={"name": "Ana"})
    run_id = stage.start("SHELL touch made")
    ask = stage.asked()
    agent = stage.run(run_id)["agent_id"]
    name = next(one["display_name"] or one["name"] for one in stage.api.get("/api/agents").json() if one["id"] == agent)
    node = stage.api.get("/api/nodes").json()[0]["name"]
    for kind in ("CallJudged", "AskRaised"):
        event = audited(stage, kind, run_id)
        assert (event["name"], event["agent_id"], event["node"]) == (name, agent, node), kind
    stage.decide(ask["id"], "approve")
    stage.end(run_id)
    answered = stage.api.get("/api/audit", params={"type": "AskAnswered", "limit": 1000}).json()["events"][-1]
    assert (answered["name"], answered["agent_id"], answered["node"]) == ("Ana", None, None)
    listed = done(stage.hub.data, "audit", "list", "--by", agent, "--limit", "1000").out
    assert f"{name} on {node}" in listed
    assert "AskAnswered" not in listed


def test_a_node_is_named_only_for_what_it_does_itself(stage: Stage) -> None:
    run_id = stage.start("SHELL touch made")
    ask = stage.asked()
    stage.decide(ask["id"], "approve", scope="run")
    stage.end(run_id)
    node = stage.api.get("/api/nodes").json()[0]["name"]
    events = stage.api.get("/api/audit", params={"limit": 1000}).json()["events"]
    assert {event["type"] for event in events if event["name"] == node} == {"CredentialRevoked"}, "of ended processes"


def test_an_ask_that_expires_is_audited_as_done_by_the_hub(stage: Stage) -> None:
    ask = stage.api.post("/api/asks", json={"title": "Anybody?", "timeout_s": 1}).json()
    stage.until(lambda: stage.api.get(f"/api/asks/{ask['id']}").json()["state"] == "expired", "it to expire")
    events = stage.api.get("/api/audit", params={"type": "AskExpired", "limit": 1000}).json()["events"]
    assert [event["name"] for event in events] == ["hub"]
