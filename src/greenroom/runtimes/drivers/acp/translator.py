"""Translates ACP messages into facts of the contract. Pure: no I/O."""

import json
from typing import Any

from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB, HUB_PREFIX
from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    QuestionAsked,
    Said,
    Thought,
)
from greenroom.runtimes.tool_names import get_hub_tool, name_server_tool, name_unknown_tool

_ENDED = {"completed": True, "failed": False}
_ACTS = ("execute", "edit", "delete", "move", "fetch", "read", "search")
_CHOICE = "allow_once"
_TITLE = 100


class AcpToolCall:
    """A tool call, as far as the agent has reported it."""

    def __init__(self, id: str, hub: str = HUB) -> None:
        self.id = id
        self._hub = hub
        self.name = ""
        self.kind = ""
        self.title = ""
        self.announced = ""
        """The title that it began with: some agents name the tool there, and say for people later what it will do."""
        self.input: Any = None
        self.content: list[Any] = []
        self.server_tool = ""
        self.is_running = False
        self.is_started = False
        self.is_finished = False

    @property
    def tool(self) -> str:
        """What policies call it: the hub's tools have one name with every agent, others that of their runtime."""
        if self.server_tool or self.name:
            return self.server_tool or get_hub_tool(self.name, self._hub) or self.name
        hub = None if self._is_command else get_hub_tool(self.announced, self._hub)
        if hub or self.kind not in ("", "other"):
            return hub or self.kind
        # These can be anybody's words, which must not pass for the name of a tool that is known.
        return f"other:{(self.announced or self.title)[:_TITLE]}"

    @property
    def _is_command(self) -> bool:
        """Whether the title can be the model's own words, which must not pass for a tool of the hub."""
        return self.kind == "execute" or (isinstance(self.input, dict) and "command" in self.input)

    @property
    def arguments(self) -> Any:
        """What will run; some agents send it only in the words for people."""
        if self.input is not None:
            return self.input
        return {"title": self.title, "content": self.content} if self.content else {"title": self.title}


class AcpTranslator:
    """Keeps what is needed to understand the next message of one session."""

    def __init__(self, manifest: AcpManifest, hub: str = HUB) -> None:
        self._manifest = manifest
        self._hub = hub
        self._calls: dict[str, AcpToolCall] = {}
        self.notice = ""
        """The runtime's own last words, such as why a turn failed."""
        self.is_broken = False
        """Whether the runtime has said, outside of any answer, that the turn went wrong."""
        self.last_said = ""
        """The newest piece of what was said."""
        self.cost_usd: float | None = None
        """What the session has cost so far."""

    def begin(self) -> None:
        """A prompt is sent: what belonged to the last one is forgotten."""
        self.notice = self.last_said = ""
        self.is_broken = False
        self._calls = {id: call for id, call in self._calls.items() if not call.is_finished}

    def translate_update(self, update: JsonObject) -> list[Heard]:
        """The facts in a session/update."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                return self._translate_text(update)
            case "agent_thought_chunk":
                text = extract_text(update.get("content"))
                return [Thought(text)] if text else []
            case "tool_call" | "tool_call_update":
                return self._translate_call(update)
            case "usage_update":
                cost = update.get("cost")
                amount = cost.get("amount") if isinstance(cost, dict) and cost.get("currency") == "USD" else None
                if isinstance(amount, int | float):
                    self.cost_usd = float(amount)
            case "session_info_update":
                status = _get_nested(update, "_meta", "codex", "threadStatus", "type")
                self.is_broken = self.is_broken or status == "systemError"
        return []

    def is_call_known(self, params: JsonObject) -> bool:
        """Whether it is known what the call does that a session/request_permission is about."""
        told = params.get("toolCall")
        if not self._manifest.late_arguments or not isinstance(told, dict) or told.get("rawInput"):
            return True
        call = self._calls.get(str(told.get("toolCallId") or ""))
        return call is not None and (call.is_running or bool(call.input))

    def translate_permission(self, id: str, params: JsonObject) -> list[Heard]:
        """What a session/request_permission asks: mostly whether a call may run, sometimes a question with answers."""
        told = params.get("toolCall")
        call = self._learn(told if isinstance(told, dict) else {})
        answers = [str(option.get("name")) for option in find_options(params) if option.get("kind") == _CHOICE]
        if len(answers) > 1 and call.kind not in _ACTS and not call.server_tool:
            return [QuestionAsked(permission=id, question=call.title, options=answers)]
        asked = PermissionAsked(
            permission=id,
            call=call.id,
            tool=self._name_asked_tool(call),
            title=call.title,
            input=call.arguments,
            edits=False,
        )
        return [*self._start(call), asked]

    def _name_asked_tool(self, call: AcpToolCall) -> str:
        """What policies call the tool that is asked for, where another server's could pass for one that is known."""
        if self._manifest.allows_hub and call.tool.startswith(HUB_PREFIX) and not call.server_tool:
            return f"other:{call.name or call.announced or call.title}"[:_TITLE]
        if self._manifest.flat_names and call.tool == call.title and "_" in call.tool:
            return name_unknown_tool(call.tool)
        return call.tool

    def finish_calls(self) -> list[Heard]:
        """The turn is over: calls whose end was not reported, such as refused ones, ended with it."""
        left = [call for call in self._calls.values() if call.is_started and not call.is_finished]
        for call in left:
            call.is_finished = True
        return [CallFinished(call=call.id, ok=False) for call in left]

    def _translate_text(self, update: JsonObject) -> list[Heard]:
        text = extract_text(update.get("content"))
        message = str(update.get("messageId") or "")
        if not message and self._manifest.unnamed_said == "notice":
            self.notice = text.strip()
            return [Thought(text)] if text else []
        self.last_said = text
        return [Said(text, message)] if text else []

    def _translate_call(self, update: JsonObject) -> list[Heard]:
        call = self._learn(update)
        call.announced = call.announced or call.title
        status = update.get("status")
        if call.is_finished or (self._manifest.early_calls and status == "pending"):
            return []
        heard: list[Heard] = self._start(call)
        if status in _ENDED:
            call.is_finished = True
            heard.append(CallFinished(call=call.id, ok=_ENDED[status], output=extract_output(update)))
        return heard

    def _start(self, call: AcpToolCall) -> list[Heard]:
        if call.is_started:
            return []
        call.is_started = True
        return [CallStarted(call=call.id, tool=call.tool, title=call.title, input=call.input)]

    def _learn(self, told: JsonObject) -> AcpToolCall:
        """Add what a message says about a call to what is known of it."""
        id = str(told.get("toolCallId") or "")
        call = self._calls.get(id)
        if call is None:
            call = self._calls[id] = AcpToolCall(id, self._hub)
            if self._manifest.tool_name == "first_title":
                call.name = str(told.get("title") or "")
            elif self._manifest.tool_name == "call_id":
                call.name = id.rpartition("__")[0]
        if self._manifest.tool_name == "name":
            meta = told.get("_meta")
            own = _get_nested(meta, "toolName") or _get_nested(meta, "claudeCode", "toolName")
            call.name = str(told.get("name") or own or call.name)
        call.is_running = call.is_running or told.get("status") == "in_progress"
        call.kind = str(told.get("kind") or call.kind)
        call.title = str(told.get("title") or call.title)
        call.content = told.get("content") or call.content
        raw = told.get("rawInput")
        if raw or call.input is None:
            call.input = raw
        if _get_nested(told, "_meta", "is_mcp_tool_call") and isinstance(raw, dict):
            call.server_tool = name_server_tool(str(raw.get("server")), str(raw.get("tool")))
            call.input = raw.get("arguments")
        return call


def find_options(params: JsonObject) -> list[JsonObject]:
    """The answers that a permission request offers."""
    return [option for option in params.get("options") or [] if isinstance(option, dict)]


def choose_option(options: list[JsonObject], decision: str, text: str = "") -> str | None:
    """The option for this answer, by its kind; None when only withdrawing expresses it.

    An approval never becomes permanent, which would take later calls away from the person who decides.
    """
    if decision == "allow":
        named = [option for option in options if option.get("kind") == _CHOICE and option.get("name") == text]
        wanted = named or [option for option in options if option.get("kind") == _CHOICE]
    else:
        wanted = [
            option for kind in ("reject_once", "reject_always") for option in options if option.get("kind") == kind
        ]
    return str(wanted[0].get("optionId")) if wanted else None


def extract_text(content: Any) -> str:
    """The text of a content block, or of several."""
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "content", "content": inner}:
            return extract_text(inner)
        case {"type": "diff", "path": str(path)}:
            return f"{path} changed"
        case list():
            return "\n".join(filter(None, map(extract_text, content)))
        case _:
            return ""


def extract_output(update: JsonObject) -> str:
    """What a call has given back."""
    text = extract_text(update.get("content"))
    raw = update.get("rawOutput")
    if text or raw is None:
        return text
    if isinstance(raw, str):
        return raw
    inner = extract_text(raw) or extract_text(_get_nested(raw, "result", "content"))
    return inner or json.dumps(raw, ensure_ascii=False)


def _get_nested(value: Any, *path: str) -> Any:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
