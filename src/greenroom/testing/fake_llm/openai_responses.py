"""The dialect of Codex: OpenAI Responses."""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT, Reply, Say, encode_sse_event
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.request import Json, ModelRequest, Transcript, find_texts, join_texts
from greenroom.testing.fake_llm.tools import FREEFORM

_SPACE = "::"
"""Between a namespace and the name of a tool in it."""
_WALL_TIME = re.compile(r"\AWall time: [\d.]+ seconds\nOutput:\n")
"""What Codex puts before a result that is an object, in the same text."""
_USAGE = {
    "input_tokens": TOKENS_IN,
    "output_tokens": TOKENS_OUT,
    "total_tokens": TOKENS_IN + TOKENS_OUT,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def parse(body: Json) -> ModelRequest:
    """Read a request."""
    said = Transcript()
    system: list[str] = [body.get("instructions") or ""]
    items = body.get("input", [])
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            said.add_user(join_texts(item["content"]))
        elif kind == "message" and item.get("role") in ("system", "developer"):
            system.append(join_texts(item["content"]))
        elif kind.endswith("_call_output"):
            said.add_result([_WALL_TIME.sub("", text) for text in find_texts(item.get("output"))])
    return said.build_request(_flatten_tools(body.get("tools", [])), "\n".join(system))


def _flatten_tools(tools: list[Json], prefix: str = "") -> dict[str, Json]:
    """Codex groups the tools of an MCP server in a namespace."""
    flat: dict[str, Json] = {}
    for tool in tools:
        if tool.get("type") == "namespace":
            flat |= _flatten_tools(tool.get("tools", []), tool["name"] + _SPACE)
        elif tool.get("type") == "custom":
            flat[prefix + tool["name"]] = {FREEFORM: True}
        elif "name" in tool:
            flat[prefix + tool["name"]] = tool.get("parameters") or {}
    return flat


def stream(reply: Reply) -> Iterator[bytes]:
    """The answer as events."""
    numbers = count()

    def event(kind: str, **data: Any) -> bytes:
        return encode_sse_event({"type": kind, "sequence_number": next(numbers), **data}, kind)

    yield event("response.created", response=_build_response(reply, [], "in_progress"))
    item = _build_item(reply)
    if isinstance(reply.answer, Say):
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        begun = {**item, "status": "in_progress", "content": []}
        yield event("response.output_item.added", output_index=0, item=begun)
        yield event("response.content_part.added", **place, part={"type": "output_text", "text": ""})
        for word in reply.answer.split_words():
            yield event("response.output_text.delta", **place, delta=word)
    yield event("response.output_item.done", output_index=0, item=item)
    yield event("response.completed", response=build_response(reply))


def build_response(reply: Reply) -> Json:
    """The answer in one piece."""
    return {**_build_response(reply, [_build_item(reply)], "completed"), "usage": _USAGE}


def _build_response(reply: Reply, output: list[Json], status: str) -> Json:
    return {
        "id": reply.build_id("resp_"),
        "object": "response",
        "model": reply.model,
        "status": status,
        "output": output,
    }


def _build_item(reply: Reply) -> Json:
    answer = reply.answer
    if isinstance(answer, Say):
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        return {
            "type": "message",
            "id": reply.build_id("msg_"),
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    space, _, name = answer.name.rpartition(_SPACE)
    item = {"id": reply.build_id("fc_"), "call_id": reply.build_id("call_"), "name": name, "status": "completed"}
    if space:
        item["namespace"] = space
    if isinstance(answer.arguments, str):
        return {**item, "type": "custom_tool_call", "input": answer.arguments}
    return {**item, "type": "function_call", "arguments": json.dumps(answer.arguments)}


OPENAI_RESPONSES = Dialect("openai_responses", parse, stream, build_response)
