"""Translates Claude Code's messages into facts of the contract. Pure: no I/O."""

from typing import Any, Literal

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    QuestionAsked,
    Said,
    Thought,
    TurnEnded,
)

Reason = Literal["done", "cancelled", "refused", "limit", "failed"]
_QUESTIONS = "AskUserQuestion"
_LIMITS = ("error_max_turns", "error_max_budget_usd")
_MILLISECONDS = 10**11
"""A time above it is not in seconds."""
_TELLING = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description")
"""The fields of a tool's input that say most to people, the best first."""


class ClaudeTranslator:
    """Keeps which messages came in pieces, because they come a second time as a whole."""

    def __init__(self) -> None:
        self._in_pieces: set[str] = set()
        self._current: dict[str | None, str] = {}

    def translate(self, message: JsonObject) -> list[Heard]:
        """The facts in a message of the stream; none for messages that only matter to the session."""
        match message:
            case {"type": "stream_event", "event": dict(event)}:
                return self._translate_piece(event, message.get("parent_tool_use_id"))
            case {"type": "assistant", "message": dict(inner)} if not message.get("is_api_error_message"):
                return self._translate_whole(inner, message.get("parent_tool_use_id"))
            case {"type": "user", "message": {"content": list(blocks)}}:
                return [heard for block in blocks for heard in _find_finished_calls(block)]
        return []

    def forget(self) -> None:
        """A turn is over: its messages do not come again."""
        self._in_pieces.clear()
        self._current.clear()

    def _translate_piece(self, event: JsonObject, parent: str | None) -> list[Heard]:
        match event:
            case {"type": "message_start", "message": {"id": str(id)}}:
                self._current[parent] = id
                self._in_pieces.add(id)
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}} if text:
                return [_build_said(text, self._current.get(parent, ""), parent)]
            case {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": str(text)}} if text:
                return [Thought(text)]
        return []

    def _translate_whole(self, inner: JsonObject, parent: str | None) -> list[Heard]:
        id = str(inner.get("id") or "")
        heard: list[Heard] = []
        for block in inner.get("content") or []:
            match block:
                case {"type": "text", "text": str(text)} if text and id not in self._in_pieces:
                    heard.append(_build_said(text, id, parent))
                case {"type": "thinking", "thinking": str(text)} if text and id not in self._in_pieces:
                    heard.append(Thought(text))
                case {"type": "tool_use" | "server_tool_use", "id": str(call), "name": str(tool)}:
                    given = block.get("input")
                    heard.append(CallStarted(call=call, tool=tool, title=build_title(given), input=given))
        return heard


def read_permission(request_id: str, request: JsonObject) -> list[PermissionAsked | QuestionAsked]:
    """What a can_use_tool asks: whether a call may run, or the agent's own questions, each with an id of its own."""
    tool, given = str(request.get("tool_name") or ""), request.get("input")
    questions = find_questions(request)
    if questions:
        return [
            QuestionAsked(
                f"{request_id}/{number}", _format_question(one), [str(o["label"]) for o in _find_options(one)]
            )
            for number, one in enumerate(questions)
        ]
    call = str(request.get("tool_use_id") or "")
    title = str(request.get("title") or request.get("description") or build_title(given))
    return [PermissionAsked(permission=request_id, call=call, tool=tool, title=title, input=given, edits=True)]


def find_questions(request: JsonObject) -> list[JsonObject]:
    """The questions in a can_use_tool; none if it is about another tool."""
    given = request.get("input")
    if request.get("tool_name") != _QUESTIONS or not isinstance(given, dict):
        return []
    return [one for one in given.get("questions") or [] if isinstance(one, dict) and one.get("question")]


def read_turn_end(result: JsonObject) -> TurnEnded:
    """How a turn ended."""
    subtype, text = str(result.get("subtype")), str(result.get("result") or "")
    if str(result.get("terminal_reason") or "").startswith("aborted"):
        return TurnEnded(reason="cancelled")
    if subtype == "success" and not result.get("is_error"):
        reason: Reason = "refused" if result.get("stop_reason") == "refusal" else "done"
        return TurnEnded(reason=reason, output=result.get("structured_output"))
    errors = [str(error) for error in result.get("errors") or []]
    words = text or "; ".join(errors) or subtype
    return TurnEnded(reason="limit" if subtype in _LIMITS else "failed", error=words)


def read_reset_time(limit: JsonObject) -> int | None:
    """When an account at its limit can be used again, in milliseconds; 0 if unknown, None if it can be used."""
    if limit.get("status") != "rejected":
        return None
    told = limit.get("resetsAt")
    seconds = int(told) if isinstance(told, int | float) else 0
    return seconds if seconds > _MILLISECONDS else seconds * 1000


def build_title(given: Any) -> str:
    """The input of a tool in few words."""
    if not isinstance(given, dict):
        return ""
    return next((str(given[name]) for name in _TELLING if isinstance(given.get(name), str)), "")


def extract_text(content: Any) -> str:
    """The text of a tool's result."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(extract_text, content)))
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": str(kind)}:
            return f"[{kind}]"
        case _:
            return ""


def _build_said(text: str, message: str, parent: str | None) -> Said | Thought:
    """What a helper of the agent says is not said to whoever asked the agent."""
    return Said(text, message) if parent is None else Thought(text)


def _find_finished_calls(block: Any) -> list[CallFinished]:
    match block:
        case {"type": "tool_result", "tool_use_id": str(call)}:
            return [CallFinished(call=call, ok=not block.get("is_error"), output=extract_text(block.get("content")))]
    return []


def _find_options(question: JsonObject) -> list[JsonObject]:
    return [option for option in question.get("options") or [] if isinstance(option, dict) and "label" in option]


def _format_question(question: JsonObject) -> str:
    lines = [str(question["question"])]
    lines += [f"{o['label']}: {o['description']}" for o in _find_options(question) if o.get("description")]
    if question.get("multiSelect"):
        lines.append("(Several answers are possible, with commas between them.)")
    return "\n".join(lines)
