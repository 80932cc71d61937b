"""The description of the API: whole, and true."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from greenroom.doors import node
from greenroom.doors.compat import legacy_sse
from greenroom.doors.mcp.door import McpDoor
from greenroom.doors.sync import socket
from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Rest, new_topic
from tests.pictures import png

METHODS = {"get", "post", "put", "delete"}


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


@pytest.fixture
def api(rest: Rest) -> dict[str, Any]:
    described: dict[str, Any] = rest.operator.get("/openapi.json").json()
    return described


def operations(api: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_the_description_is_of_openapi_3_1_and_every_reference_in_it_leads_somewhere(api: dict[str, Any]) -> None:
    assert api["openapi"] == "3.1.0"
    for schema in api["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    names = set(re.findall(r"#/components/schemas/([^']+)", str(api)))
    assert names <= set(api["components"]["schemas"])
    assert not [name for name in names if "." in name], "two types share a name"
    ids = [operation["operationId"] for _, _, operation in operations(api) if "operationId" in operation]
    assert len(ids) == len(set(ids))


def test_every_operation_says_what_it_needs_takes_and_answers(api: dict[str, Any]) -> None:
    for method, path, operation in operations(api):
        assert method in METHODS and operation["summary"]
        if "x-protocol" in operation:
            continue
        assert ("x-needs" in operation) == bool(operation["security"]), path
        named = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))
        success = next(status for status in operation["responses"] if status != "default")
        assert success in ("204", "303") or operation["responses"][success].get("content"), path


def test_the_doors_that_speak_otherwise_are_named(api: dict[str, Any]) -> None:
    named = {path for _, path, operation in operations(api) if "x-protocol" in operation}
    assert named == {*McpDoor.PATHS, *legacy_sse.PATHS, "/api/mcp/tool/{name}", socket.PATH, node.PATH}


def test_answers_are_as_they_are_described(rest: Rest, api: dict[str, Any]) -> None:
    def check(answer: httpx.Response, path: str) -> Any:
        operation = api["paths"][path][answer.request.method.lower()]
        content = operation["responses"][str(answer.status_code)]["content"]
        schema = {**content["application/json"]["schema"], "components": api["components"]}
        Draft202012Validator(schema).validate(answer.json())
        return answer.json()

    agent = rest.agent(skills=[{"id": "s", "name": "S"}])
    made = check(
        agent.http.post(
            "/api/threads", json={"topic": new_topic(), "system_prompt": "sp", "creator_agent_id": agent.id}
        ),
        "/api/threads",
    )
    one, path = f"/api/threads/{made['id']}", "/api/threads/{thread_id}"
    posted = check(agent.post(made["id"], "one", metadata={"k": 1}), f"{path}/messages")
    message, message_path = f"/api/messages/{posted['id']}", "/api/messages/{message_id}"
    check(agent.http.post(f"{message}/reactions", json={"reaction": "x"}), f"{message_path}/reactions")
    check(agent.http.put(message, json={"content": "two"}), message_path)
    for end in ("", "/messages", "/agents", "/settings", "/admin", "/wait-state", "/wait"):
        check(rest.operator.get(f"{one}{end}"), f"{path}{end}")
    for end in ("", "/history", "/receipts", "/reactions"):
        check(rest.operator.get(f"{message}{end}"), f"{message_path}{end}")
    for known in ("threads", "agents", "templates", "credentials", "audit", "metrics", "search?q=two"):
        check(rest.operator.get(f"/api/{known}"), f"/api/{known.partition('?')[0]}")
    check(rest.operator.post(f"{one}/sync-context"), f"{path}/sync-context")
    check(rest.operator.post(f"{one}/join"), f"{path}/join")
    check(rest.operator.post(f"{one}/admin/decision", json={"action": "keep"}), f"{path}/admin/decision")
    check(rest.operator.get("/api/templates/brainstorm"), "/api/templates/{template_id}")
    image = {"file": ("a.png", png(), "image/png")}
    check(rest.operator.post("/api/upload/image", files=image), "/api/upload/image")
    check(rest.operator.post("/api/credentials", json={"kind": "viewer", "name": "v"}), "/api/credentials")
    check(rest.operator.get(f"/api/agents/{agent.id}"), "/api/agents/{agent_id}")
    check(rest.operator.delete(one), path)
    refused = rest.operator.get(one)
    Draft202012Validator(api["components"]["schemas"]["Error"]).validate(refused.json())
