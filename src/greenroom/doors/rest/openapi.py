"""The OpenAPI document, generated from the declarations of every endpoint."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom import __version__
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.rest.wire import encode
from greenroom.json_types import JsonSchema
from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub

_REF = "#/components/schemas/{name}"
_TEXT, _NULL, _SENTENCE = {"type": "string"}, {"type": "null"}, {"$ref": _REF.format(name="Sentence")}
_WORDS = (_TEXT, _NULL, _SENTENCE)
_KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Your own id for this request: a repeat with the same one returns the first answer.",
    "schema": {"type": "string", "maxLength": 200},
}
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "agentToken": {"type": "apiKey", "in": "header", "name": "X-Agent-Token"},
}
_PROTOCOLS = {
    "/mcp": (("GET", "POST", "DELETE"), "mcp", "MCP over streamable HTTP"),
    "/mcp/sse": (("GET", "POST", "DELETE"), "mcp", "The same, under the name that people have in their settings"),
    "/sse": (("GET",), "mcp", "MCP over SSE, for older clients: the stream"),
    "/messages": (("POST",), "mcp", "MCP over SSE, for older clients: what they say"),
    "/mcp/messages": (("POST",), "mcp", "One request of MCP without a session, for AgentChatBus's clients"),
    "/api/mcp/tool/{name}": (("POST",), "mcp", "One tool call, for AgentChatBus's clients"),
    "/sync": (("GET",), "websocket", "Rows as they change, for the page"),
    "/node": (("GET",), "websocket", "The link of a machine that holds agents"),
}
"""Doors whose protocol is not REST; other documents describe them."""


class Error(msgspec.Struct):
    """What went wrong: `detail` says what to do, `code` is for programs."""

    detail: Any
    code: str


def describe_api(endpoints: Sequence[Endpoint]) -> JsonSchema:
    """An OpenAPI 3.1 document."""
    types = {id(kind): kind for e in endpoints for kind in (e.body, e.answer) if _is_type(kind)}
    shapes, components = msgspec.json.schema_components([Error, *types.values()], ref_template=_REF)
    schemas = dict(zip(types, shapes[1:], strict=True))
    paths: JsonSchema = {}
    for endpoint in endpoints:
        operation = _describe_operation(endpoint, schemas)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    for path, (methods, protocol, summary) in _PROTOCOLS.items():
        told = {"summary": summary, "x-protocol": protocol, "responses": {"default": {"description": summary}}}
        paths[path] = {method.lower(): told for method in methods}
    described = {
        "openapi": "3.1.0",
        "info": {"title": "Greenroom", "version": __version__},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
    }
    return _rename_duplicates(_describe_words(described), [name for name in components if "." in name])


def _describe_words(schema: Any) -> Any:
    """Words are sent as their English text: see `render_english`."""
    if isinstance(schema, list):
        return [_describe_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told = {name: _describe_words(one) for name, one in schema.items()}
    options = told.get("anyOf", [])
    if _TEXT not in options or _SENTENCE not in options or any(one not in _WORDS for one in options):
        return told
    left = [one for one in options if one != _SENTENCE]
    return told | {"anyOf": left} if len(left) > 1 else {name: told[name] for name in told if name != "anyOf"} | left[0]


def _rename_duplicates(described: JsonSchema, names: list[str]) -> JsonSchema:
    """Types of one name in two nouns are called by the noun too: `greenroom.rules.runs.model.RunUsage` is RunsSpent."""
    text = encode(described).decode()
    for name in sorted(names, key=len, reverse=True):
        parts = name.split(".")
        text = text.replace(name, parts[2].capitalize() + parts[-1])
    renamed: JsonSchema = msgspec.json.decode(text)
    return renamed


def _is_type(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, (str, dict))


def _describe_operation(endpoint: Endpoint, schemas: dict[int, Any]) -> JsonSchema:
    name = re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_")
    failure = {
        "description": "Refused",
        "content": {"application/json": {"schema": {"$ref": _REF.format(name="Error")}}},
    }
    success: JsonSchema = {"description": endpoint.summary}
    if endpoint.answer is not None:
        success["content"] = _describe_content(endpoint.answer, schemas)
    operation: JsonSchema = {
        "operationId": name,
        "summary": endpoint.summary,
        "parameters": _describe_parameters(endpoint),
        "responses": {str(endpoint.status): success, "default": failure},
        "security": [] if endpoint.needs == PUBLIC else [{scheme: []} for scheme in _SECURITY],
    }
    if endpoint.needs != PUBLIC:
        operation["x-needs"] = endpoint.needs
    if endpoint.body is not None:
        operation["requestBody"] = {
            "content": _describe_content(endpoint.body, schemas),
            "required": _is_needed(endpoint.body),
        }
    return operation


def _describe_content(kind: Any, schemas: dict[int, Any]) -> JsonSchema:
    """A media type by its name, content that is described already, or JSON of a type."""
    if isinstance(kind, str):
        return {kind: {}}
    if isinstance(kind, dict):
        return kind
    return {"application/json": {"schema": schemas[id(kind)]}}


def _is_needed(body: Any) -> bool:
    return isinstance(body, dict) or any(field.required for field in msgspec.structs.fields(body))


def _describe_parameters(endpoint: Endpoint) -> list[JsonSchema]:
    text = {"type": "string"}
    names = re.findall(r"\{(\w+)\}", endpoint.path)
    out: list[JsonSchema] = [{"name": n, "in": "path", "required": True, "schema": text} for n in names]
    if endpoint.query is not None:
        (_,), components = msgspec.json.schema_components([endpoint.query], ref_template=_REF)
        shape = components[endpoint.query.__name__]
        needed = shape.get("required", [])
        for name, schema in shape["properties"].items():
            out.append({"name": name, "in": "query", "required": name in needed, "schema": schema})
    return [*out, _KEY_HEADER] if endpoint.keyed else out


def build_endpoint(all_endpoints: Callable[[], Sequence[Endpoint]]) -> Endpoint:
    """The endpoint that serves the description; the routes are read at each call."""
    made: list[bytes] = []

    async def show(hub: Hub, by: Principal, request: Request) -> Response:
        if not made:
            made.append(encode(describe_api(all_endpoints())))
        return Response(made[0], media_type="application/json")

    return Endpoint("GET", "/openapi.json", "read", show, "This description", answer="application/json")
