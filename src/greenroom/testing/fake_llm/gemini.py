"""The dialect of Gemini CLI."""

import json
from collections.abc import Iterator

from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT, Reply, Say, frame
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.request import Json, Request, Transcript, text_of

_USAGE = {
    "promptTokenCount": TOKENS_IN,
    "candidatesTokenCount": TOKENS_OUT,
    "totalTokenCount": TOKENS_IN + TOKENS_OUT,
}


def parse(body: Json) -> Request:
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
            said.add_user(text_of(parts))
    functions = [function for tool in body.get("tools", []) for function in tool.get("functionDeclarations", [])]
    tools = {f["name"]: f.get("parametersJsonSchema") or f.get("parameters") or {} for f in functions}
    return said.request(tools, text_of((body.get("systemInstruction") or {}).get("parts")))


def stream(reply: Reply) -> Iterator[bytes]:
    """The answer as parts."""
    if not isinstance(reply.answer, Say):
        yield frame(whole(reply))
        return
    for word in reply.answer.words():
        yield frame(_candidate(reply, {"text": word}))
    yield frame(_candidate(reply, {"text": ""}, "STOP"))


def whole(reply: Reply) -> Json:
    """The answer in one piece."""
    answer = reply.answer
    if isinstance(answer, Say):
        return _candidate(reply, {"text": answer.text}, "STOP")
    call = {"id": reply.id("call_"), "name": answer.name, "args": answer.arguments}
    return _candidate(reply, {"functionCall": call}, "STOP")


def _candidate(reply: Reply, part: Json, finish: str | None = None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "modelVersion": reply.model,
        "responseId": reply.id("resp_"),
        "usageMetadata": _USAGE,
    }


GEMINI = Dialect("gemini", parse, stream, whole)
