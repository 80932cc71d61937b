"""Translates the app server's messages into facts of the contract. Pure: no I/O."""

import json
from typing import Any, Literal

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    Said,
    Thought,
    TurnEnded,
    Usage,
)
from greenroom.runtimes.tool_names import name_server_tool
from greenroom.sentences import build_sentence

Tokens = tuple[int, int]
"""In and out."""
Reason = Literal["done", "cancelled", "refused", "limit", "quota", "failed"]
_WORDS = ("userMessage", "agentMessage", "reasoning", "plan", "hookPrompt", "functionCallOutput")
_MARKS = ("enteredReviewMode", "exitedReviewMode", "contextCompaction", "subAgentActivity")
_THOUGHTS = ("item/reasoning/summaryTextDelta", "item/reasoning/textDelta", "item/plan/delta")
_REASONS: dict[str, Reason] = {
    "contextWindowExceeded": "limit",
    "sessionBudgetExceeded": "limit",
    "usageLimitExceeded": "quota",
    "cyberPolicy": "refused",
    "misalignmentPolicyViolation": "refused",
}
_ASKED = ("command", "cwd", "reason", "networkApprovalContext", "permissions", "grantRoot")


class CodexTranslator:
    """Keeps what is needed to understand the next message of a thread and of those that its helpers have."""

    def __init__(self) -> None:
        self._in_pieces: set[str] = set()
        self._items: dict[str, JsonObject] = {}
        """The calls that are under way, because a request for approval only names them."""
        self._threads: dict[str, str] = {}
        """In which thread each of them is."""
        self._used: dict[str, Tokens] = {}
        self._used_before: dict[str, Tokens] = {}
        self.model: str | None = None
        self._resets_at: int | None = None
        """When the account can be used again, once a window of its limits is full."""

    def translate(
        self, method: str, params: JsonObject, *, is_helper: bool = False, is_ours: bool = True
    ) -> list[Heard]:
        """The facts in a notification; none for notifications that only matter to the session.

        Notifications of another turn than the one that is accounted for are ignored.
        """
        match method, params:
            case "item/agentMessage/delta", {"itemId": str(id), "delta": str(text)} if text:
                self._in_pieces.add(id)
                return [_build_said(text, id, is_helper)]
            case _, {"delta": str(text)} if method in _THOUGHTS and text:
                return [Thought(text)]
            case "item/started", {"item": {"id": str(id)} as item} if _is_call(item):
                self._items[id], self._threads[id] = item, str(params.get("threadId"))
                return [CallStarted(call=id, tool=name_tool(item), title=build_title(item), input=extract_input(item))]
            case "item/completed", {"item": {"id": str(id)} as item}:
                return self._translate_completed(id, item, is_helper)
            case "thread/tokenUsage/updated", {"threadId": str(thread), "tokenUsage": {"total": dict(total)}}:
                self._used[thread] = _number(total, "inputTokens"), _number(total, "outputTokens")
                if is_ours:
                    return [self._count_usage()]
                self._used_before[thread] = self._used[thread]
            case "account/rateLimits/updated", {"rateLimits": dict(limits)}:
                self._resets_at = _get_reset_time(limits)
        return []

    def begin(self) -> None:
        """A turn starts: earlier usage belongs to others."""
        self._used_before = dict(self._used)

    def finish(self, thread: str) -> list[Heard]:
        """A turn is over, and with it the calls whose end was not reported."""
        stopped = [id for id in self._items if self._threads[id] == thread]
        for id in stopped:
            del self._items[id], self._threads[id]
        self._in_pieces.clear()
        return [CallFinished(call=id, ok=False, output="stopped") for id in stopped]

    def translate_permission(self, id: str, params: JsonObject) -> PermissionAsked:
        """What a request for approval asks, with all that is known of its call."""
        call = str(params.get("itemId") or "")
        item = self._items.get(call) or {"type": "permissions" if "permissions" in params else "commandExecution"}
        given = {name: params[name] for name in _ASKED if params.get(name) is not None}
        known = extract_input(item) if call in self._items else {}
        title = str(params.get("reason") or build_title(item) or params.get("command") or "")
        return PermissionAsked(permission=id, call=call, tool=name_tool(item), title=title, input={**known, **given})

    def translate_tool_permission(self, id: str, params: JsonObject) -> PermissionAsked:
        """What a request to use an MCP server's tool asks. It does not name its call: that is found by what it does."""
        server, meta = params.get("serverName"), params.get("_meta") or {}
        given = meta.get("tool_params")
        calls = [
            (call, item)
            for call, item in self._items.items()
            if item.get("type") == "mcpToolCall" and item.get("server") == server and item.get("arguments") == given
        ]
        is_sure = len({item.get("tool") for _, item in calls}) == 1
        call, item = calls[-1] if is_sure else ("", {"type": "mcpToolCall", "server": server, "tool": "*"})
        title = str(params.get("message") or "")
        return PermissionAsked(permission=id, call=call, tool=name_tool(item), title=title, input=given)

    def _translate_completed(self, id: str, item: JsonObject, is_helper: bool) -> list[Heard]:
        self._items.pop(id, None)
        self._threads.pop(id, None)
        text = item.get("text")
        if item.get("type") == "agentMessage" and isinstance(text, str) and text and id not in self._in_pieces:
            return [_build_said(text, id, is_helper)]
        if not _is_call(item):
            return []
        return [CallFinished(call=id, ok=item.get("status", "completed") == "completed", output=extract_output(item))]

    def _count_usage(self) -> Usage:
        """What the turn has used so far, with its helpers."""
        used_in = used_out = 0
        for thread, now in self._used.items():
            before = self._used_before.get(thread, (0, 0))
            used_in, used_out = used_in + now[0] - before[0], used_out + now[1] - before[1]
        return Usage(max(0, used_in), max(0, used_out), None, self.model)

    def translate_turn_end(self, turn: JsonObject) -> TurnEnded:
        """How a turn ended; with a used up account also when that can be used again."""
        end = read_turn_end(turn)
        return msgspec.structs.replace(end, resets_at=self._resets_at) if end.reason == "quota" else end


def read_turn_end(turn: JsonObject) -> TurnEnded:
    """How a turn ended."""
    match turn.get("status"):
        case "completed":
            return TurnEnded(reason="done")
        case "interrupted":
            return TurnEnded(reason="cancelled")
    found = turn.get("error")
    error: JsonObject = found if isinstance(found, dict) else {}
    info = error.get("codexErrorInfo")
    words = [str(error[name]) for name in ("message", "additionalDetails") if error.get(name)]
    reason = _REASONS.get(info, "failed") if isinstance(info, str) else "failed"
    return TurnEnded(reason=reason, error=": ".join(words) or build_sentence("run_error.turn_failed"))


def name_tool(item: JsonObject) -> str:
    """What policies call it: tools of MCP servers have one name with every agent, others that of Codex."""
    if item.get("type") == "mcpToolCall":
        return name_server_tool(str(item.get("server")), str(item.get("tool")))
    return str(item.get("tool") or item.get("type"))


def build_title(item: JsonObject) -> str:
    """A call in few words."""
    match item:
        case {"type": "commandExecution", "commandActions": [{"command": str(command)}]}:
            return command
        case {"command": str(text)} | {"query": str(text)} | {"path": str(text)}:
            return text
        case {"type": "fileChange", "changes": list(changes)}:
            return ", ".join(str(change.get("path")) for change in changes if isinstance(change, dict))
    return ""


def extract_input(item: JsonObject) -> Any:
    """What the call will do."""
    match item:
        case {"type": "commandExecution"}:
            return {"command": item.get("command"), "cwd": item.get("cwd")}
        case {"type": "fileChange"}:
            return {"changes": item.get("changes")}
        case {"arguments": given}:
            return given
    return {name: item[name] for name in ("query", "path", "prompt") if item.get(name) is not None}


def extract_output(item: JsonObject) -> str:
    """What the call has given back."""
    match item:
        case {"aggregatedOutput": str(text)} | {"error": {"message": str(text)}}:
            return text
        case {"result": {"content": list(blocks)}} | {"contentItems": list(blocks)}:
            return "\n".join(_extract_text(block) for block in blocks)
    return ""


def _build_said(text: str, message: str, is_helper: bool) -> Said | Thought:
    """What a helper of the agent says is not said to whoever asked the agent."""
    return Thought(text) if is_helper else Said(text, message)


def _extract_text(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else json.dumps(block, ensure_ascii=False)


def _is_call(item: JsonObject) -> bool:
    return item.get("type") not in (*_WORDS, *_MARKS)


def _get_reset_time(limits: JsonObject) -> int | None:
    """When the last of the full windows ends, in milliseconds; None when none is full."""
    windows = [limits.get(name) for name in ("primary", "secondary")]
    full = [one for one in windows if isinstance(one, dict) and _number(one, "usedPercent") >= 100]
    return max((_number(one, "resetsAt") * 1000 for one in full), default=0) or None


def _number(counts: JsonObject, name: str) -> int:
    found = counts.get(name)
    return int(found) if isinstance(found, int | float) else 0
