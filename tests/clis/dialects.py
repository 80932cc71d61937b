"""Clients of the fake model, one per dialect: how each asks, and what it makes of the answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

Json = dict[str, Any]
Step = tuple[str, Any]
"""("say", text) or (name of the tool, arguments)."""
SCHEMA = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class Client:
    """One dialect. `results` are texts of tool results, each a list of blocks."""

    path: str
    stream_path: str
    body: Callable[[str, list[list[str]], list[str]], Json]
    read_whole: Callable[[Json], Step]
    read_stream: Callable[[list[Json]], Step]

    def ask(self, http: httpx.Client, prompt: str, results: list[list[str]], tools: list[str], streamed: bool) -> Step:
        body = self.body(prompt, results, tools)
        if not streamed:
            return self.read_whole(http.post(self.path, json=body).raise_for_status().json())
        answered = http.post(self.stream_path, json={**body, "stream": True}).raise_for_status()
        lines = [line.removeprefix("data: ") for line in answered.text.splitlines() if line.startswith("data: {")]
        return self.read_stream([json.loads(line) for line in lines])


def anthropic_body(prompt: str, results: list[list[str]], tools: list[str]) -> Json:
    reminder = "<system-reminder>\nSAY nothing of this\n</system-reminder>"
    messages: list[Json] = [{"role": "user", "content": [_text(reminder), _text(prompt)]}]
    for blocks in results:
        messages.append({"role": "assistant", "content": [{"type": "tool_use"}]})
        result = {"type": "tool_result", "content": [_text(block) for block in blocks]}
        messages.append({"role": "user", "content": [result, _text(reminder)]})
    offered = [{"name": f"mcp__hub__{name}", "input_schema": SCHEMA} for name in tools]
    return {"model": "m", "messages": messages, "tools": offered, "system": [_text("be brief")]}


def anthropic_whole(answer: Json) -> Step:
    (block,) = answer["content"]
    return ("say", block["text"]) if block["type"] == "text" else (block["name"], block["input"])


def anthropic_stream(events: list[Json]) -> Step:
    block = next(event["content_block"] for event in events if event["type"] == "content_block_start")
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    if block["type"] == "text":
        return "say", "".join(delta["text"] for delta in deltas)
    return block["name"], json.loads("".join(delta["partial_json"] for delta in deltas))


def chat_body(prompt: str, results: list[list[str]], tools: list[str]) -> Json:
    messages: list[Json] = [{"role": "system", "content": "be brief"}, {"role": "user", "content": f'"{prompt}"'}]
    if "\n" in prompt or '"' in prompt:
        messages[1]["content"] = prompt
    for blocks in results:
        messages.append({"role": "assistant", "tool_calls": []})
        messages.append({"role": "tool", "content": "\n".join(blocks)})
    offered = [{"type": "function", "function": {"name": f"hub_{name}", "parameters": SCHEMA}} for name in tools]
    return {"model": "m", "messages": messages, "tools": offered}


def chat_whole(answer: Json) -> Step:
    message = answer["choices"][0]["message"]
    if message["content"] is not None:
        return "say", message["content"]
    function = message["tool_calls"][0]["function"]
    return function["name"], json.loads(function["arguments"])


def chat_stream(events: list[Json]) -> Step:
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    calls = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    content = None if calls else "".join(delta.get("content", "") for delta in deltas)
    return chat_whole({"choices": [{"message": {"content": content, "tool_calls": calls[0] if calls else None}}]})


def responses_body(prompt: str, results: list[list[str]], tools: list[str]) -> Json:
    context = "<environment_context>\nSAY nothing of this\n</environment_context>"
    items: list[Json] = [_item("developer", "be brief"), _item("user", context), _item("user", prompt)]
    for blocks in results:
        items.append({"type": "function_call", "name": "x", "arguments": "{}"})
        output = [{"type": "input_text", "text": text} for text in ["Wall time: 0.1 seconds\nOutput:", *blocks]]
        items.append({"type": "function_call_output", "output": output})
    offered = [{"type": "function", "name": name, "parameters": SCHEMA} for name in tools]
    grouped = [{"type": "namespace", "name": "mcp__hub", "tools": offered}] if offered else []
    return {"model": "m", "input": items, "tools": grouped}


def responses_whole(answer: Json) -> Step:
    (item,) = answer["output"]
    if item["type"] == "message":
        return "say", item["content"][0]["text"]
    return f"{item['namespace']}::{item['name']}", json.loads(item["arguments"])


def responses_stream(events: list[Json]) -> Step:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    said = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    step = responses_whole(events[-1]["response"])
    assert step[0] != "say" or step[1] == said
    return step


def gemini_body(prompt: str, results: list[list[str]], tools: list[str]) -> Json:
    contents: list[Json] = [{"role": "user", "parts": [{"text": prompt}]}]
    for blocks in results:
        contents.append({"role": "model", "parts": [{"functionCall": {}}]})
        response = {"functionResponse": {"response": {"output": "\n".join(blocks)}}}
        contents.append({"role": "user", "parts": [response]})
    declared = [{"name": f"mcp_hub_{name}", "parametersJsonSchema": SCHEMA} for name in tools]
    system = {"parts": [{"text": "be brief"}]}
    return {"contents": contents, "tools": [{"functionDeclarations": declared}], "systemInstruction": system}


def gemini_whole(answer: Json) -> Step:
    part = answer["candidates"][0]["content"]["parts"][0]
    return ("say", part["text"]) if "text" in part else (part["functionCall"]["name"], part["functionCall"]["args"])


def gemini_stream(events: list[Json]) -> Step:
    steps = [gemini_whole(event) for event in events]
    return ("say", "".join(text for _, text in steps)) if steps[0][0] == "say" else steps[0]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _item(role: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


_GEMINI = "/v1beta/models/fake:{}?alt=sse"
CLIENTS = {
    "anthropic": Client("/v1/messages", "/v1/messages", anthropic_body, anthropic_whole, anthropic_stream),
    "chat": Client("/v1/chat/completions", "/v1/chat/completions", chat_body, chat_whole, chat_stream),
    "responses": Client("/v1/responses", "/v1/responses", responses_body, responses_whole, responses_stream),
    "gemini": Client(
        _GEMINI.format("generateContent"),
        _GEMINI.format("streamGenerateContent"),
        gemini_body,
        gemini_whole,
        gemini_stream,
    ),
}
