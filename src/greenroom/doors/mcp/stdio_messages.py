"""Messages on their way through the stdio proxy: how to tell them apart, and what goes into headers and lines."""

import base64
import re
from typing import Any, Literal

import msgspec

from greenroom.json_types import JsonObject

_UNREACHABLE = -32000
VERSION = "mcp-protocol-version"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_REPEATABLE = ("msg_wait", "ask_question", "task_finish", "work_report", "permission_request")
"""Calls that find what they wait for again, however often they are repeated."""
_PLAIN = re.compile(r"(?!=\?base64\?)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
encode = msgspec.json.Encoder().encode


class RpcEnvelope(msgspec.Struct):
    """What a client's message must at least be."""

    jsonrpc: Literal["2.0"]
    id: int | str | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET


class Head(msgspec.Struct):
    """What distinguishes one message from another."""

    jsonrpc: str = ""
    id: Any = None
    method: str | None = None


def is_modern(message: JsonObject) -> bool:
    match message:
        case {"params": {"_meta": {"io.modelcontextprotocol/protocolVersion": str()}}}:
            return True
        case _:
            return False


def is_repeatable(message: JsonObject) -> bool:
    """Whether it does no harm to ask the same twice, or more often."""
    match message:
        case {"method": "tools/call", "params": {"name": name}}:
            return name in _REPEATABLE
        case _:
            return True


def build_modern_headers(message: JsonObject) -> dict[str, str]:
    params = message["params"]
    method = message.get("method", "")
    headers = {VERSION: _encode_header(params["_meta"][_VERSION_KEY]), "mcp-method": _encode_header(method)}
    name = params.get(_NAMES.get(method, ""))
    return headers | {"mcp-name": _encode_header(name)} if isinstance(name, str) else headers


def _encode_header(value: str) -> str:
    """A value encoded for a header."""
    return value if _PLAIN.fullmatch(value) else f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def build_answer_line(request_id: Any, status: int, body: bytes) -> bytes:
    """The hub's answer as a line, or a replacement if the hub did not answer with JSON-RPC."""
    try:
        head = msgspec.json.decode(body, type=Head)
        if head.jsonrpc and head.id is not None and b"\n" not in body:
            return body
        answer = msgspec.json.decode(body)
    except msgspec.DecodeError:
        answer = {}
    match answer:
        case {"jsonrpc": _}:
            return encode(answer | {"id": request_id})
        case {"detail": str(text)}:
            return build_failure(request_id, text)
        case _:
            return build_failure(request_id, f"The hub answered with status {status}.")


def build_failure(request_id: Any, text: str) -> bytes:
    return encode({"jsonrpc": "2.0", "id": request_id, "error": {"code": _UNREACHABLE, "message": text}})
