"""Wraps every tool: marks its caller as present, and words refusals as the bus's clients expect."""

import dataclasses
from typing import Any, TypeVar

from greenroom.doors.http.errors import record_refusal
from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.errors import Refused
from greenroom.sentences import list_wire_fields

A = TypeVar("A")

WORDS = {
    "thread_not_found": "Thread not found",
    "template_not_found": "Template not found",
    "message_not_found": "MESSAGE_NOT_FOUND",
    "empty_query": "query must not be empty",
    "rate_limited": "Rate limit exceeded",
    "content_blocked": "Content blocked by filter",
    "bad_priority": "INVALID_ARGUMENT",
    "bad_role": "INVALID_ARGUMENT",
    "bad_stop_reason": "INVALID_ARGUMENT",
    "bad_handoff": "INVALID_ARGUMENT",
    "bad_reply_to": "INVALID_ARGUMENT",
}


def wrap_tool(tool: Tool[A]) -> Tool[A]:
    """The tool as it is offered."""
    name, inner = tool.name, tool.run

    async def run(call: McpCall[A]) -> Any:
        if call.by.agent_id is not None:
            call.hub.presence.note_activity(call.by.agent_id, name)
        try:
            return await inner(call)
        except Refused as no:
            record_refusal(call.hub, call.by, f"tools/call {name}", no)
            return build_refusal(no)

    return dataclasses.replace(tool, run=run)


def build_refusal(no: Refused) -> dict[str, Any]:
    """A refusal as a result: `error` as clients know it, `code` as all doors of the hub call it, and what to do."""
    said: dict[str, Any] = {"error": WORDS.get(no.code, no.code), "code": no.code, "message": no.message}
    said |= {**list_wire_fields(no.said), **no.details}
    if said["error"] == "INVALID_ARGUMENT":
        said["detail"] = no.message
    if "window_seconds" in said:
        said["window"] = said["window_seconds"]
    return said
