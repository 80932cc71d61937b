"""Every tool against its own schema: PR-07."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.security.conftest import House
from tests.security.rig import Mcp

Json = Any
ANYTHING: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NASTY = st.sampled_from(
    [
        "",
        " ",
        "\0",
        "\u202e",
        "e\u0301",
        "\ufeff",
        "\U0001f600",
        "x" * 5000,
        "../../etc",
        "' OR 1=1 --",
        "{{7*7}}",
        "null",
    ]
)
SKIPPED = frozenset(
    {
        "spawn_agent",
        "agent_invite",
        "run_wait",
        "run_status",
        "workflow_start",
        "ask_question",
        "task_finish",
        "work_report",
        "permission_request",
    }
)
"""Tools that start agents, or wait for them or for people, have tests of their own."""


FEW = settings(deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


class Values:
    """Values that fit a schema, mostly; ids are often those of things that are there."""

    def __init__(self, house: House) -> None:
        known = [*house.threads.values(), *house.messages.values(), *house.agents.values(), *house.tokens.values()]
        self._ids = st.sampled_from(known)

    def of(self, schema: dict[str, Any], name: str = "") -> st.SearchStrategy[Json]:
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum") or [schema["const"]])
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return st.one_of([self.of(each, name) for each in schema[choice]])
        kind = schema.get("type")
        if isinstance(kind, list):
            return st.one_of([self.of({**schema, "type": each}, name) for each in kind])
        return self._of_type(kind, schema, name)

    def _of_type(self, kind: str | None, schema: dict[str, Any], name: str) -> st.SearchStrategy[Json]:
        match kind:
            case "string":
                text = st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 30), 30))
                return (
                    self._ids | NASTY | text if name.endswith(("_id", "token", "author", "mentions")) else NASTY | text
                )
            case "integer":
                return st.integers(schema.get("minimum", -(2**60)), schema.get("maximum", 2**60))
            case "number":
                return st.floats(-1e9, 1e9, allow_nan=False)
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
            case "array":
                return st.lists(self.of(schema.get("items", {}), name), max_size=3)
            case "object":
                return self._object(schema)
            case _:
                return ANYTHING

    def _object(self, schema: dict[str, Any]) -> st.SearchStrategy[Json]:
        fields = {name: self.of(each, name) for name, each in schema.get("properties", {}).items()}
        required = set(schema.get("required", ()))
        return st.fixed_dictionaries(
            {name: value for name, value in fields.items() if name in required},
            optional={name: value for name, value in fields.items() if name not in required},
        )


def spoiled(valid: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[dict[str, Json]]:
    """Arguments with one thing wrong: a key too many, a key too few, or a value of any kind."""

    def too_many(args: dict[str, Json]) -> dict[str, Json]:
        return {**args, "no_such_key": 1}

    @st.composite
    def changed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, Json]:
        args = draw(valid)
        if not args:
            return too_many(args)
        name = draw(st.sampled_from(sorted(args)))
        if draw(st.booleans()):
            return {key: value for key, value in args.items() if key != name}
        return {**args, name: draw(ANYTHING)}

    return valid.map(too_many) | changed()


@pytest.mark.parametrize("who", ["operator", "ada"])
def test_no_arguments_make_a_tool_fail(house: House, who: str) -> None:
    """PR-07"""
    values = Values(house)
    with house.client(who) as client:
        mcp = Mcp(client)
        tools = [tool for tool in mcp.tools() if tool["name"] not in SKIPPED]
        assert len(tools) > 20
        for tool in tools:
            assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]
            now = {"timeout_ms": 0} if "timeout_ms" in tool["inputSchema"]["properties"] else {}
            try_tool(mcp, tool["name"], values.of(tool["inputSchema"]), now)


def try_tool(mcp: Mcp, name: str, valid: st.SearchStrategy[dict[str, Json]], now: dict[str, int]) -> None:
    """Call a tool with arguments that fit and with some that do not, but never have it wait."""

    @settings(FEW, max_examples=12)
    @given(valid | spoiled(valid))
    def call(arguments: dict[str, Json]) -> None:
        answer = mcp.send("tools/call", {"name": name, "arguments": {**arguments, **now}})
        assert answer.status_code == 200, (name, arguments, answer.text)
        result = answer.json()["result"]
        said = result["content"][0]["text"] if result["content"] else ""
        assert "InternalError" not in said, (name, arguments, said)
        assert "Traceback" not in said, (name, arguments, said)
        if "no_such_key" in arguments:
            assert result["isError"], (name, arguments, said)
            assert "path" in json.loads(said), said

    call()


REST_BODIES: list[tuple[str, str]] = [
    ("POST", "/api/threads"),
    ("POST", "/api/threads/{thread}/messages"),
    ("POST", "/api/threads/{thread}/state"),
    ("POST", "/api/threads/{thread}/settings"),
    ("POST", "/api/threads/{thread}/sync-context"),
    ("PUT", "/api/messages/{message}"),
    ("POST", "/api/messages/{message}/reactions"),
    ("POST", "/api/agents/register"),
    ("POST", "/api/agents/heartbeat"),
    ("POST", "/api/agents/resume"),
    ("PUT", "/api/agents/{agent}"),
    ("POST", "/api/agents/{agent}/mail"),
    ("POST", "/api/templates"),
    ("POST", "/api/credentials"),
]


@pytest.mark.parametrize(("method", "path"), REST_BODIES)
def test_no_body_makes_a_route_fail(house: House, method: str, path: str) -> None:
    """PR-07"""
    described = house.call("operator", "GET", "/openapi.json").json()
    target = path.format(thread=house.threads["open"], message=house.messages["open"], agent=house.agents["bob"])
    names = {"thread": "thread_id", "message": "message_id", "agent": "agent_id"}
    operation = described["paths"][path.format(**{k: f"{{{v}}}" for k, v in names.items()})][method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    valid = Values(house).of(resolved(schema, described["components"]["schemas"]))
    with house.client("operator") as client:

        @settings(FEW, max_examples=25)
        @given(valid | spoiled(valid) | ANYTHING)
        def call(body: Json) -> None:
            answer = client.request(method, target, json=body)
            assert answer.status_code < 500, (body, answer.text)
            if answer.status_code >= 400:
                assert answer.json()["detail"], answer.text

        call()


def resolved(schema: Any, known: dict[str, Any]) -> Any:
    """The schema without references."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return resolved(known[schema["$ref"].rpartition("/")[2]], known)
        return {key: resolved(value, known) for key, value in schema.items()}
    return [resolved(each, known) for each in schema] if isinstance(schema, list) else schema
