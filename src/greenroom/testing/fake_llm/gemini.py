"""The dialect of Gemini CLI."""

import json
from collections.abc import Iterator

from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT, Reply, Say, encode_sse_event
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.request import Json, ModelRequest, Transcript, join_texts

_USAGE = {
    "promptTokenCount": TOKENS_IN,
    "candidatesTokenCount": TOKENS_OUT,
    "totalTokenCount": TOKENS_IN + TOKENS_OUT,
}


def parse(body: Json) -> ModelRequest:
    """Read a request."""
    said = Transcript()
    for message in body.get("contents", []):
        if message.get("role") == "model":
            continue
        parts = message.get("parts", [])
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        for result in results:
            values = (result.get("response") or {}).values()
            said.add_result([value if isinstance(value, str) else json.dumps(value) for value in values])
        if not results:
            said.add_user(join_texts(parts))
    functions = [function for tool in body.get("tools", []) for function in tool.get("functionDeclarations", [])]
    tools = {f["name"]: f.get("parametersJsonSchema") or f.get("parameters") or {} for f in functions}
    return said.build_request(tools, join_texts((body.get("systemInstruction") or {}).get("parts")))


def stream(reply: Reply) -> Iterator[bytes]:
    """The answer as parts."""
    if not isinstance(reply.answer, Say):
        yield encode_sse_event(build_response(reply))
        return
    for word in reply.answer.split_words():
        yield encode_sse_event(_build_candidate(reply, {"text": word}))
    yield encode_sse_event(_build_candidate(reply, {"text": ""}, "STOP"))


def build_response(reply: Reply) -> Json:
    """The answer in one piece."""
    answer = reply.answer
    if isinstance(answer, Say):
        return _build_candidate(reply, {"text": answer.text}, "STOP")
    call = {"id": reply.build_id("call_"), "name": answer.name, "args": answer.arguments}
    return _build_candidate(reply, {"functionCall": call}, "STOP")


def _build_candidate(reply: Reply, part: Json, finish: str | None = None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "modelVersion": reply.model,
        "responseId": reply.build_id("resp_"),
        "usageMetadata": _USAGE,
    }


GEMINI = Dialect("gemini", parse, stream, build_response)
