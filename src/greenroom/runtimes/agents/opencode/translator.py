"""Translates the events of OpenCode's server into facts of the contract. Pure: no I/O."""

from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB
from greenroom.runtimes.contract import CallFinished, CallStarted, Heard, Said, Thought, TurnEnded, Usage
from greenroom.runtimes.tool_names import get_hub_tool
from greenroom.sentences import build_sentence

_LIMITS = ("MessageOutputLengthError", "ContextOverflowError")


class AssistantMessage(msgspec.Struct):
    """What is known of one message of the agent."""

    parent: str = ""
    is_complete: bool = False
    error: JsonObject | None = None
    input: int = 0
    output: int = 0
    cost_usd: float = 0.0
    model: str | None = None


class OpencodeTranslator:
    """Keeps what is needed to understand the next event of one session."""

    def __init__(self, hub: str = HUB) -> None:
        self._hub = hub
        self.session = ""
        self.answers: dict[str, AssistantMessage] = {}
        """The agent's messages, by their ids, of the turn that is under way."""
        self._helpers: set[str] = set()
        """The sessions that this one has started, and those that these have."""
        self._helpers_answers: dict[str, AssistantMessage] = {}
        self._told: dict[str, int] = {}
        self._kinds: dict[str, str] = {}
        self._calls: dict[str, JsonObject] = {}
        self._started: set[str] = set()
        self._finished: set[str] = set()
        self._used: Usage | None = None
        self.error: JsonObject | None = None
        """What OpenCode has said went wrong since the model's last answer."""

    def begin(self) -> None:
        """A turn begins: what belonged to the last one is forgotten."""
        self.answers, self._told, self._kinds, self._used = {}, {}, {}, None
        self._helpers_answers, self.error = {}, None
        self._calls = {id: call for id, call in self._calls.items() if id not in self._finished}
        self._started -= self._finished
        self._finished = set()

    def translate(self, kind: str, properties: JsonObject) -> list[Heard]:
        """The facts in an event of this session."""
        match kind, properties:
            case "message.updated", {"info": {"role": "assistant", "id": str(id)} as info}:
                return self._translate_message(id, info)
            case "session.error", {"error": dict(error)}:
                self.error = error
            case "message.part.updated", {"part": dict(part)}:
                return self._translate_part(part)
            case "message.part.delta", {"messageID": str(message), "partID": str(part), "delta": str(text)}:
                return self._translate_text(message, part, text) if properties.get("field") == "text" else []
        return []

    def translate_helper(self, kind: str, properties: JsonObject) -> list[Heard]:
        """The facts in an event of another session: if this one started it, its usage counts here."""
        match kind, properties:
            case "session.created", {"info": {"id": str(id), "parentID": str(parent)}}:
                if parent == self.session or parent in self._helpers:
                    self._helpers.add(id)
            case "message.updated", {"info": {"role": "assistant", "id": str(id), "sessionID": str(session)} as info}:
                if session in self._helpers:
                    self._helpers_answers[id] = answer = _read_answer(info)
                    return self._translate_usage(answer)
        return []

    def name_tool(self, call: str) -> str:
        """What policies call the tool of a call: the hub's tools have one name with every runtime."""
        name = str(self._calls.get(call, {}).get("tool") or "")
        return get_hub_tool(name, self._hub) or name

    def is_running(self, call: str) -> bool:
        """Whether the call's arguments are complete."""
        state = self._calls.get(call, {}).get("state")
        return isinstance(state, dict) and state.get("status") != "pending"

    def get_input(self, call: str) -> Any:
        state = self._calls.get(call, {}).get("state")
        return state.get("input") if isinstance(state, dict) else None

    def start_call(self, call: str, tool: str, title: str, given: Any) -> list[Heard]:
        """A call has started, unless that was reported before."""
        if call in self._started:
            return []
        self._started.add(call)
        return [CallStarted(call=call, tool=tool, title=title, input=given)]

    def finish_calls(self) -> list[Heard]:
        """The turn is over: calls whose end was not reported ended with it."""
        left = sorted(self._started - self._finished)
        self._finished |= set(left)
        return [CallFinished(call=call, ok=False) for call in left]

    def _translate_message(self, id: str, info: JsonObject) -> list[Heard]:
        answer = self.answers[id] = _read_answer(info)
        if answer.is_complete and answer.output and answer.error is None:
            self.error = None  # it continued: it has summarized what it could no longer read
        return self._translate_usage(answer)

    def _translate_usage(self, answer: AssistantMessage) -> list[Heard]:
        """What the turn has used so far, if a message that is complete has changed it."""
        if not answer.is_complete:
            return []
        all_of_it = [*self.answers.values(), *self._helpers_answers.values()]
        used = Usage(
            sum(one.input for one in all_of_it),
            sum(one.output for one in all_of_it),
            round(sum(one.cost_usd for one in all_of_it), 9),
            answer.model,
        )
        if used == self._used or not used.input_tokens + used.output_tokens:
            return []
        self._used = used
        return [used]

    def _translate_part(self, part: JsonObject) -> list[Heard]:
        id, message = str(part.get("id")), str(part.get("messageID"))
        match part:
            case {"type": "text" | "reasoning" as kind, "text": str(text)} if message in self.answers:
                self._kinds[id] = kind
                return self._translate_text(message, id, text[self._told.get(id, 0) :])
            case {"type": "tool", "callID": str(call), "state": {"status": str(status)} as state}:
                self._calls[call] = part
                return self._translate_call(call, status, state)
        return []

    def _translate_text(self, message: str, part: str, text: str) -> list[Heard]:
        kind = self._kinds.get(part)
        if not text or kind is None or message not in self.answers:
            return []
        self._told[part] = self._told.get(part, 0) + len(text)
        return [Said(text, message) if kind == "text" else Thought(text)]

    def _translate_call(self, call: str, status: str, state: JsonObject) -> list[Heard]:
        if status == "pending" or call in self._finished:
            return []  # before its arguments are known it has not begun
        title = str(state.get("title") or _build_title(state.get("input")) or "")
        heard: list[Heard] = self.start_call(call, self.name_tool(call), title, state.get("input"))
        if status in ("completed", "error"):
            self._finished.add(call)
            output = state.get("output") if status == "completed" else state.get("error")
            heard.append(CallFinished(call=call, ok=status == "completed", output=str(output or "")))
        return heard


def _read_answer(info: JsonObject) -> AssistantMessage:
    tokens = _part(info, "tokens")
    cache = _part(tokens, "cache")
    return AssistantMessage(
        parent=str(info.get("parentID") or ""),
        is_complete="completed" in _part(info, "time"),
        error=info.get("error") if isinstance(info.get("error"), dict) else None,
        input=sum(_number(one) for one in (tokens.get("input"), cache.get("read"), cache.get("write"))),
        output=_number(tokens.get("output")) + _number(tokens.get("reasoning")),
        cost_usd=float(info.get("cost") or 0.0),
        model=str(info.get("modelID") or "") or None,
    )


def read_turn_end(answer: AssistantMessage | None, *, is_cancelled: bool) -> TurnEnded:
    """How a turn ended, by the agent's last message in it."""
    error = answer.error if answer is not None else None
    if is_cancelled or (error is not None and error.get("name") == "MessageAbortedError"):
        return TurnEnded(reason="cancelled")
    if error is None:
        return TurnEnded(reason="done")
    message = str(_part(error, "data").get("message") or error.get("name") or "")
    words = message or build_sentence("run_error.opencode_failed")
    return TurnEnded(reason="limit" if error.get("name") in _LIMITS else "failed", error=words)


def _build_title(given: Any) -> str:
    return str(given.get("command") or given.get("filePath") or "") if isinstance(given, dict) else ""


def _part(whole: JsonObject, name: str) -> JsonObject:
    found = whole.get(name)
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
