"""Every endpoint with every principal, compared cell by cell with the table of rights."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Agent, Rest, new_topic
from tests.pictures import png
from tests.security.matrix_rest import COLUMNS, MATRIX


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


SERVER = {"command": ["true"], "enabled": False}
PROFILE = {"driver": "command", "command": ["true"]}


class Scene:
    """A thread of one agent, and what else a path names; and those who come by."""

    def __init__(self, rest: Rest, path: str) -> None:
        self._rest = rest
        self.agent = rest.agent()
        self._thread = rest.thread(self.agent) if "thread_id" in path or "message_id" in path else ""
        self.path = path.format(**{name: self._make(name) for name in re.findall(r"{(\w+)}", path)})

    def _make(self, name: str) -> str:
        operator = self._rest.operator
        match name:
            case "thread_id":
                return self._thread
            case "message_id":
                return str(self.agent.post(self._thread, "word").json()["id"])
            case "agent_id":
                return self.agent.id
            case "template_id":
                template = new_topic().replace(" ", "-")
                operator.post("/api/templates", json={"id": template, "name": "T", "system_prompt": "s"})
                return template
            case "upload_id":
                image = {"file": ("a.png", png(), "image/png")}
                return str(operator.post("/api/upload/image", files=image).json()["id"])
            case "credential_id":
                spare = {"kind": "viewer", "name": "spare"}
                return str(operator.post("/api/credentials", json=spare).json()["id"])
            case "ask_id":
                return str(self.agent.http.post("/api/asks", json={"title": "may I?"}).json()["id"])
            case "server":
                server = new_topic().replace(" ", "-").lower()[:20].strip("-")
                operator.put(f"/api/servers/{server}", json=SERVER)
                return server
            case "node_id":
                return str(operator.post("/api/nodes", json={"name": new_topic()[:60]}).json()["node_id"])
            case "rule":
                rule = new_topic().replace(" ", "-")
                operator.put(f"/api/policy/rules/{rule}", json={"rule": {"decision": "ask", "tools": ["x"]}})
                return rule
            case "name":
                name = new_topic().replace(" ", "-").lower()
                operator.put(f"/api/profiles/{name}", json=PROFILE)
                return name
            case _:
                return "x"

    def comes(self, column: str) -> httpx.Client:
        match column:
            case "operator" | "viewer":
                return self._rest.bearer(kind=column)
            case "agent":
                return self.agent.http
            case "other":
                return self._rest.agent().http
            case _:
                return self._rest.client()


def how(method: str, path: str, agent: Agent) -> dict[str, Any]:
    """What a call needs beyond its path."""
    bodies: dict[str, Any] = {
        "/login": {"data": {"code": "wrong"}},
        "/api/notify/channels": {"json": {"kind": "ntfy", "name": "n", "url": "https://127.0.0.1:9/topic"}},
        "/api/notify/act": {"json": {"ticket": "x", "verdict": "approve"}},
        "/api/input": {"json": {"text": "x"}},
        "/agent_backend/chat/chat": {"json": {"session_id": "s", "message": "x"}},
        "/agent_backend/chat/permission-response": {"json": {"session_id": "s", "request_id": "x", "approved": True}},
        "/api/runs": {"json": {"profile": "none", "prompt": "x"}},
        "/api/runs/{run_id}/steer": {"json": {"text": "x"}},
        "/api/workflows/{name}": {"json": {"definition": {"name": "x"}}},
        "/api/workflow-runs": {"json": {"workflow": "none"}},
        "/api/workflow-runs/{run_id}/amend": {"json": {"step": "a", "changes": {}}},
        "/api/workflow-runs/{run_id}/signal": {"json": {"step": "a"}},
        "/api/threads/{thread_id}/invite": {"json": {"agent_name": "none"}},
        "/api/workflow-check": {"json": {"text": "name: x"}},
        "/api/asks": {"json": {"title": "may I?"}},
        "/api/asks/answers": {"json": {"answers": [{"ask_id": "x", "verdict": "approve"}]}},
        "/api/asks/{ask_id}/answer": {"json": {"verdict": "answer", "text": "yes"}},
        "/api/asks/{ask_id}/snooze": {"json": {"for_s": 60}},
        "/api/asks/{ask_id}/delegate": {"json": {"to": "Ann"}},
        "/api/profiles": {"json": {"profiles": {"bundled": PROFILE}}},
        "/api/profiles/{name}": {"json": PROFILE},
        "/api/policy/check": {"json": {"name": "x", "rule": {"decision": "ask"}}},
        "/api/policy/rules/{rule}": {"json": {"rule": {"decision": "ask", "tools": ["x"]}}},
        "/api/servers/{server}": {"json": SERVER},
        "/api/servers/{server}/accept": {"json": {"tools": {}}},
        "/api/servers/{server}/hold": {"json": {"tools": []}},
        "/api/nodes": {"json": {"name": new_topic()[:60]}},
        "/api/threads": {"json": {"topic": new_topic()}},
        "/api/threads/{thread_id}/state": {"json": {"state": "review"}},
        "/api/threads/{thread_id}/rename": {"json": {"topic": new_topic()}},
        "/api/threads/{thread_id}/messages": {"json": {"content": "hello"}},
        "/api/threads/{thread_id}/settings": {"json": {"timeout_seconds": 90}},
        "/api/threads/{thread_id}/admin/decision": {"json": {"action": "keep"}},
        "/api/messages/{message_id}": {"json": {"content": "changed"}},
        "/api/messages/{message_id}/reactions": {"json": {"reaction": "x"}},
        "/api/agents/{agent_id}": {"json": {"description": "d"}},
        "/api/agents/{agent_id}/mail": {"json": {"content": "hello"}},
        "/api/agents/register": {"json": {"ide": "New", "model": "M"}},
        "/api/agents/heartbeat": {"json": {"agent_id": agent.id}},
        "/api/agents/resume": {"json": {"agent_id": agent.id}},
        "/api/agents/unregister": {"json": {"agent_id": agent.id}},
        "/api/templates": {"json": {"id": new_topic().replace(" ", "-"), "name": "T", "system_prompt": "s"}},
        "/api/upload/image": {"files": {"file": ("a.png", png(), "image/png")}},
        "/api/credentials": {"json": {"kind": "viewer", "name": "v"}},
    }
    queries = {
        "/api/search": {"q": "word"},
        "/api/asks/{ask_id}/wait": {"for_s": "0"},
        "/api/threads/{thread_id}/wait": {"after_seq": "0", "timeout_ms": "0"},
    }
    if method == "GET":
        return {"params": queries.get(path, {})}
    if path.startswith("/agentassistproto."):
        return {"json": {}}
    return bodies.get(path, {})


@pytest.mark.parametrize(("method", "path"), list(MATRIX))
def test_an_endpoint_answers_each_principal_as_the_table_says(rest: Rest, method: str, path: str) -> None:
    found = []
    for column in COLUMNS:
        scene = Scene(rest, path)
        call = how(method, path, scene.agent)
        with scene.comes(column).stream(method, scene.path, **call) as answer:
            found.append(answer.status_code)
    assert dict(zip(COLUMNS, found, strict=True)) == dict(zip(COLUMNS, MATRIX[(method, path)], strict=True))


def test_every_endpoint_has_a_row_and_every_row_an_endpoint(rest: Rest) -> None:
    paths = rest.operator.get("/openapi.json").json()["paths"]
    declared = {
        (method.upper(), path)
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "x-protocol" not in operation
    }
    assert declared == set(MATRIX)
