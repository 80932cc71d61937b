"""Agents and templates over REST, as the bus's clients use them."""

from collections.abc import Iterator

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Rest, code_of


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def test_agents_of_the_same_kind_get_names_of_their_own(rest: Rest) -> None:
    body = {"ide": "Twin", "model": "M", "description": "d", "capabilities": ["code"], "unknown": 1}
    first = rest.operator.post("/api/agents/register", json=body).json()
    second = rest.operator.post("/api/agents/register", json={"ide": "Twin", "model": "M"}).json()
    assert (first["name"], first["display_name"], first["alias_source"]) == ("Twin (M)", "Twin (M)", "auto")
    assert (first["capabilities"], first["skills"], first["emoji"]) == (["code"], [], "🤖")
    assert second["name"] == "Twin (M) 2"
    assert first["token"] != second["token"]


def test_an_agent_that_registers_again_is_the_same_agent(rest: Rest) -> None:
    agent = rest.agent(ide="Same")
    again = agent.http.post("/api/agents/register", json={"ide": "Same", "model": "M", "display_name": "Sam"}).json()
    assert (again["agent_id"], again["token"]) == (agent.id, agent.token)
    assert (again["display_name"], again["alias_source"]) == ("Sam", "user")
    assert [a["name"] for a in rest.operator.get("/api/agents").json()].count("Same (M)") == 1


def test_agents_are_shown_with_what_they_say_and_whether_they_are_there(rest: Rest) -> None:
    skills = [{"id": "s1", "name": "S"}]
    agent = rest.agent(ide="Shown", description="d", skills=skills, emoji="🔧")
    listed = {a["id"]: a for a in rest.operator.get("/api/agents").json()}
    shown = rest.operator.get(f"/api/agents/{agent.id}").json()
    assert {name: listed[agent.id][name] for name in shown} == shown
    assert {k: shown[k] for k in ("name", "ide", "model", "description", "skills", "emoji", "is_online")} == {
        "name": "Shown (M)",
        "ide": "Shown",
        "model": "M",
        "description": "d",
        "skills": skills,
        "emoji": "🔧",
        "is_online": True,
    }
    assert shown["last_activity"] == "registered"
    assert shown["last_heartbeat"] == shown["last_activity_time"]
    assert code_of(rest.operator.get("/api/agents/nope")) == (404, "agent_not_found")


def test_an_agent_is_there_changes_leaves_and_comes_back(rest: Rest) -> None:
    agent = rest.agent(ide="Life")
    proof = {"agent_id": agent.id, "token": agent.token}
    assert rest.operator.post("/api/agents/heartbeat", json=proof).json() == {"ok": True}
    assert rest.operator.get(f"/api/agents/{agent.id}").json()["last_activity"] == "heartbeat"
    change = {"token": agent.token, "description": "new", "capabilities": ["x"]}
    changed = rest.operator.put(f"/api/agents/{agent.id}", json=change).json()
    assert (changed["ok"], changed["description"], changed["capabilities"]) == (True, "new", ["x"])
    assert changed["last_activity"] == "update"
    assert rest.operator.post("/api/agents/unregister", json=proof).json() == {"ok": True}
    assert agent.id not in {a["id"] for a in rest.operator.get("/api/agents").json()}
    back = rest.operator.post("/api/agents/resume", json=proof).json()
    assert (back["ok"], back["agent_id"], back["is_online"]) == (True, agent.id, True)
    assert agent.id in {a["id"] for a in rest.operator.get("/api/agents").json()}


@pytest.mark.parametrize("again", ["resume", "register"])
def test_an_agent_that_comes_back_does_not_share_a_name_that_was_taken_meanwhile(rest: Rest, again: str) -> None:
    ide = f"Twin {again}"
    agent = rest.agent(ide=ide)
    proof = {"agent_id": agent.id, "token": agent.token}
    assert rest.operator.post("/api/agents/unregister", json=proof).json() == {"ok": True}
    other = rest.agent(ide=ide)
    assert other.name == agent.name
    body = proof if again == "resume" else {"ide": ide, "model": "M"}
    assert agent.http.post(f"/api/agents/{again}", json=body).status_code == 200
    names = {a["id"]: a["name"] for a in rest.operator.get("/api/agents").json()}
    assert (names[other.id], names[agent.id]) == (other.name, f"{other.name} 2")


@pytest.mark.parametrize("call", ["heartbeat", "resume", "unregister"])
def test_only_its_own_token_speaks_for_an_agent(rest: Rest, call: str) -> None:
    agent, other = rest.agent(), rest.agent()
    path = f"/api/agents/{call}"
    for body in (
        {"agent_id": agent.id, "token": "bad"},
        {"agent_id": agent.id, "token": other.token},
        {"agent_id": "nope", "token": other.token},
    ):
        assert code_of(rest.operator.post(path, json=body)) == (401, "agent_unproven")
    assert code_of(other.http.post(path, json={"agent_id": agent.id})) == (401, "agent_unproven")
    assert agent.http.post(path, json={"agent_id": agent.id}).status_code == 200


def test_an_agent_is_not_described_by_another(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    path = f"/api/agents/{agent.id}"
    assert other.http.put(path, json={"description": "x"}).status_code == 404
    assert code_of(other.http.put(path, json={"token": "bad", "description": "x"})) == (401, "agent_unproven")
    assert rest.operator.get(path).json()["description"] == ""


def test_a_kicked_agent_is_out_at_once_and_for_good(rest: Rest) -> None:
    agent = rest.agent(ide="Kicked")
    kicked = rest.operator.post(f"/api/agents/{agent.id}/kick").json()
    assert (kicked["ok"], kicked["agent_id"], kicked["agent_name"]) == (True, agent.id, "Kicked (M)")
    assert (kicked["threads_interrupted"], kicked["sessions_disconnected_count"]) == ([], 0)
    assert agent.http.get("/api/agents").status_code == 401
    proof = {"agent_id": agent.id, "token": agent.token}
    assert rest.operator.post("/api/agents/resume", json=proof).status_code == 401
    assert code_of(rest.operator.post("/api/agents/nope/kick")) == (404, "agent_not_found")
    assert code_of(rest.agent().http.post(f"/api/agents/{agent.id}/kick")) == (403, "forbidden")


@pytest.mark.parametrize("name", ["operator", "SYSTEM", "оperator", "a\u200bb", "", "x" * 65])
def test_a_name_that_could_be_taken_for_anothers_is_refused(rest: Rest, name: str) -> None:
    refused = rest.operator.post("/api/agents/register", json={"ide": "ok", "model": "M", "display_name": name or " "})
    assert refused.status_code == 400
    assert refused.json()["code"] in ("bad_name", "reserved_name")


def test_an_enrolling_credential_speaks_for_the_agents_it_registered(rest: Rest) -> None:
    enroller = rest.bearer(kind="agent", rights=["read", "all", "chat", "register"])
    made = enroller.post("/api/agents/register", json={"ide": "Child", "model": "M"}).json()
    assert enroller.post("/api/agents/heartbeat", json={"agent_id": made["agent_id"]}).json() == {"ok": True}
    thread = rest.thread()
    body = {"author": made["agent_id"], "content": "as my child"}
    assert enroller.post(f"/api/threads/{thread}/messages", json=body).status_code == 201
    assert rest.agent().http.post("/api/agents/register", json={"ide": "X", "model": "M"}).json()["agent_id"]
    assert code_of(rest.bearer(kind="viewer").post("/api/agents/register", json={"ide": "V", "model": "M"})) == (
        403,
        "forbidden",
    )


def test_templates_are_listed_made_used_and_removed(rest: Rest) -> None:
    listed = rest.operator.get("/api/templates").json()
    assert {"code-review", "security-audit", "architecture", "brainstorm"} <= {t["id"] for t in listed}
    assert all(t["is_builtin"] and "system_prompt" not in t for t in listed)
    made = rest.operator.post("/api/templates", json={"id": "tt", "name": "T", "system_prompt": "s"})
    assert made.status_code == 201
    assert made.json() == {"id": "tt", "name": "T", "description": None, "is_builtin": False}
    again = rest.operator.post("/api/templates", json={"id": "tt", "name": "T", "system_prompt": "s"})
    assert code_of(again) == (409, "template_exists")
    shown = rest.operator.get("/api/templates/tt").json()
    assert (shown["system_prompt"], shown["default_metadata"], shown["is_builtin"]) == ("s", None, False)
    assert code_of(rest.agent().http.delete("/api/templates/tt")) == (403, "forbidden")
    gone = rest.operator.delete("/api/templates/tt")
    assert (gone.status_code, gone.content) == (204, b"")
    for call in (rest.operator.get, rest.operator.delete):
        assert code_of(call("/api/templates/tt")) == (404, "template_not_found")
    assert code_of(rest.operator.delete("/api/templates/brainstorm")) == (403, "template_builtin")
