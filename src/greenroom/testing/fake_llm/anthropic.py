"""The dialect of Claude Code: Anthropic Messages."""

import json
from collections.abc import Iterator
from typing import Any

from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT, Reply, Say, encode_sse_event
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.request import Json, ModelRequest, Transcript, find_texts, join_texts

_FOUND = "Tool loaded."
"""What Claude Code itself says beside the result of ToolSearch."""
_NO_CACHE = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def parse(body: Json) -> ModelRequest:
    """Read a request. Reminders beside a tool result are noise; other text there is a new prompt."""
    said = Transcript()
    for message in body.get("messages", []):
        if message["role"] != "user":
            continue
        content = message["content"]
        blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block.get("type") == "tool_result":
                said.add_result(list(find_texts(block.get("content"))))
        texts = [block for block in blocks if block.get("type") == "text" and block["text"] != _FOUND]
        said.add_user(join_texts(texts))
    tools = {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", []) if "name" in tool}
    return said.build_request(tools, join_texts(body.get("system", "")))


def stream(reply: Reply) -> Iterator[bytes]:
    """The answer as events."""

    def event(kind: str, **data: Any) -> bytes:
        return encode_sse_event({"type": kind, **data}, kind)

    usage = {"input_tokens": TOKENS_IN, "output_tokens": 1, **_NO_CACHE}
    yield event("message_start", message=_build_message(reply, [], None, usage))
    block = _build_block(reply)
    if isinstance(reply.answer, Say):
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for word in reply.answer.split_words():
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    else:
        arguments = json.dumps(block["input"])
        yield event("content_block_start", index=0, content_block={**block, "input": {}})
        yield event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": arguments})
    yield event("content_block_stop", index=0)
    end = {"stop_reason": _get_stop_reason(reply), "stop_sequence": None}
    yield event("message_delta", delta=end, usage={"output_tokens": TOKENS_OUT})
    yield event("message_stop")


def build_response(reply: Reply) -> Json:
    """The answer in one piece."""
    usage = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT, **_NO_CACHE}
    return _build_message(reply, [_build_block(reply)], _get_stop_reason(reply), usage)


def _build_message(reply: Reply, content: list[Json], stop_reason: str | None, usage: Json) -> Json:
    return {
        "id": reply.build_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _build_block(reply: Reply) -> Json:
    answer = reply.answer
    if isinstance(answer, Say):
        return {"type": "text", "text": answer.text}
    return {"type": "tool_use", "id": reply.build_id("toolu_"), "name": answer.name, "input": answer.arguments}


def _get_stop_reason(reply: Reply) -> str:
    return "end_turn" if isinstance(reply.answer, Say) else "tool_use"


ANTHROPIC = Dialect("anthropic", parse, stream, build_response)
