"""The dialect of OpenCode and Copilot: OpenAI chat completions."""

import json
from collections.abc import Iterator

from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT, Reply, Say, UseTool, encode_sse_event
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.request import Json, ModelRequest, Transcript, find_texts, join_texts

_USAGE = {
    "prompt_tokens": TOKENS_IN,
    "completion_tokens": TOKENS_OUT,
    "total_tokens": TOKENS_IN + TOKENS_OUT,
}


def parse(body: Json) -> ModelRequest:
    """Read a request."""
    said = Transcript()
    system: list[str] = []
    for message in body.get("messages", []):
        match message["role"]:
            case "system" | "developer":
                system.append(join_texts(message["content"]))
            case "user":
                said.add_user(join_texts(message["content"]))
            case "tool":
                said.add_result(list(find_texts(message["content"])))
    functions = [tool["function"] for tool in body.get("tools", []) if tool.get("type") == "function"]
    tools = {function["name"]: function.get("parameters", {}) for function in functions}
    return said.build_request(tools, "\n".join(system))


def stream(reply: Reply) -> Iterator[bytes]:
    """The answer as chunks."""

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return encode_sse_event({**_build_head(reply, "chat.completion.chunk"), "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    if isinstance(reply.answer, Say):
        for word in reply.answer.split_words():
            yield chunk({"content": word})
    else:
        yield chunk({"tool_calls": [_build_tool_call(reply, reply.answer)]})
    yield chunk({}, _get_finish_reason(reply))
    yield encode_sse_event({**_build_head(reply, "chat.completion.chunk"), "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def build_response(reply: Reply) -> Json:
    """The answer in one piece."""
    message: Json = {"role": "assistant", "content": None}
    if isinstance(reply.answer, Say):
        message["content"] = reply.answer.text
    else:
        message["tool_calls"] = [_build_tool_call(reply, reply.answer)]
    choice = {"index": 0, "message": message, "finish_reason": _get_finish_reason(reply)}
    return {**_build_head(reply, "chat.completion"), "choices": [choice], "usage": _USAGE}


def _build_head(reply: Reply, kind: str) -> Json:
    return {"id": reply.build_id("chatcmpl-"), "object": kind, "created": 0, "model": reply.model}


def _build_tool_call(reply: Reply, use: UseTool) -> Json:
    function = {"name": use.name, "arguments": json.dumps(use.arguments)}
    return {"index": 0, "id": reply.build_id("call_"), "type": "function", "function": function}


def _get_finish_reason(reply: Reply) -> str:
    return "stop" if isinstance(reply.answer, Say) else "tool_calls"


OPENAI_CHAT = Dialect("openai_chat", parse, stream, build_response)
