"""A session with Claude Code: turns that may take several messages, permissions, and the agent's own questions."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from greenroom.json_types import JsonObject, ToolArguments
from greenroom.runtimes.agents.claude import manifest
from greenroom.runtimes.agents.claude.manifest import HUB_TOOLS
from greenroom.runtimes.agents.claude.session_usage import SessionUsage
from greenroom.runtimes.agents.claude.translator import (
    ClaudeTranslator,
    find_questions,
    read_permission,
    read_reset_time,
    read_turn_end,
)
from greenroom.runtimes.contract import (
    Decision,
    Heard,
    Opened,
    PermissionWithdrawn,
    Process,
    TurnEnded,
)
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.runtimes.transports.json_lines import JsonLines

_REFUSED = "This was not allowed. Go on without it."
_STOPPED = "This was not allowed, and the work was stopped."
_ASK = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "every call is asked",
    }
}
_GATE = {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["gate"]}]}


class ClaudeRequest(msgspec.Struct):
    """A can_use_tool that waits; `answers` has a place for each of the agent's questions, if it asks any."""

    request_id: str
    permissions: list[str]
    input: Any
    questions: list[str] = []
    answers: dict[str, str] = {}


class ClaudeTurn(msgspec.Struct):
    """From a prompt until the agent has read and answered all messages."""

    waiting: set[str] = set()
    """The messages that Claude Code has not read yet."""
    is_cancelled: bool = False


class ClaudeSession:
    """One conversation with one process."""

    def __init__(self, process: Process, *, gates_all: bool) -> None:
        self._gates_all = gates_all
        self._ears = HeardQueue()
        self._translator = ClaudeTranslator()
        self.account = SessionUsage()
        self._turn: ClaudeTurn | None = None
        self._asked: dict[str, ClaudeRequest] = {}
        self._resets_at: int | None = None
        """When the account can be used again; None while it can be. Reported once, and not with each refusal."""
        self._tells_progress = False
        """Whether it reports when it reads a message. Without that, nothing can be sent into a running turn."""
        self._line = JsonLines(process, self._handle_message, self._ears)

    async def initialize(self) -> JsonObject:
        """Shake hands. Raises ConnectionError when the process ends instead, ValueError when it refuses."""
        return await self.control("initialize", **({"hooks": _GATE} if self._gates_all else {}))

    async def control(self, subtype: str, **fields: Any) -> JsonObject:
        """Ask Claude Code itself, not the agent. Raises ValueError when it says no."""
        id = str(uuid.uuid4())
        answer = await self._line.ask(id, _build_request(id, subtype, **fields))
        if answer.get("subtype") != "success":
            raise ValueError(str(answer.get("error") or f"{subtype} was refused"))
        found = answer.get("response")
        return found if isinstance(found, dict) else {}

    def begin(self, opened: Opened) -> None:
        self._ears.put(opened)

    def listen(self) -> AsyncIterator[Heard]:
        return self._ears.listen()

    async def prompt(self, text: str) -> None:
        self._turn = ClaudeTurn()
        await self._say(self._turn, text)

    async def steer(self, text: str) -> bool:
        turn = self._turn
        if turn is None or turn.is_cancelled or not self._tells_progress:
            return False
        await self._say(turn, text)
        return True

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        asked = self._asked.pop(permission, None)
        if asked is None:
            return
        if decision == "allow" and asked.questions:
            asked.answers[asked.questions[asked.permissions.index(permission)]] = text
            if len(asked.answers) == len(asked.questions):
                await self._answer(asked, {"behavior": "allow", "updatedInput": _add_answers(asked)})
            return
        self._withdraw(asked.request_id)
        if decision == "allow":
            given = asked.input if arguments is None else arguments
            await self._answer(asked, {"behavior": "allow", "updatedInput": given})
        elif decision == "deny":
            await self._answer(asked, {"behavior": "deny", "message": text or _REFUSED})
        else:
            if self._turn is not None:
                self._turn.is_cancelled = True
            await self._answer(asked, {"behavior": "deny", "message": text or _STOPPED, "interrupt": True})

    async def cancel(self) -> None:
        if self._turn is not None:
            self._turn.is_cancelled = True
            await self._interrupt()

    async def close(self) -> None:
        await self._line.close()

    async def _say(self, turn: ClaudeTurn, text: str) -> None:
        id = str(uuid.uuid4())
        turn.waiting.add(id)
        message = {"role": "user", "content": manifest.QUOTING.quote(text)}
        await self._line.send({"type": "user", "uuid": id, "message": message, "parent_tool_use_id": None})

    async def _interrupt(self) -> None:
        await self._line.send(_build_request(str(uuid.uuid4()), "interrupt"))

    async def _answer(self, asked: ClaudeRequest, response: JsonObject) -> None:
        await self._line.send(_build_response(asked.request_id, response))

    def _handle_message(self, message: JsonObject) -> None:
        match message:
            case {"type": "control_response", "response": {"request_id": str(id)} as answer}:
                self._line.settle(id, answer)
            case {"type": "control_request", "request_id": str(id), "request": dict(request)}:
                self._handle_request(id, request)
            case {"type": "control_cancel_request", "request_id": str(id)}:
                self._withdraw(id)
            case {"type": "command_lifecycle", "command_uuid": str(id), "state": str(state)}:
                self._handle_progress(id, state)
            case {"type": "rate_limit_event", "rate_limit_info": dict(limit)}:
                self._resets_at = read_reset_time(limit)
            case {"type": "result"}:
                self._handle_result(message)
            case _:
                self._ears.put(*self._translator.translate(message))
                event = message.get("event")
                used = self.account.count(event) if isinstance(event, dict) else None
                if used is not None and self._turn is not None:
                    self._ears.put(used)

    def _handle_request(self, id: str, request: JsonObject) -> None:
        match request.get("subtype"):
            case "can_use_tool":
                heard = read_permission(id, request)
                questions = [str(one["question"]) for one in find_questions(request)]
                asked = ClaudeRequest(id, [one.permission for one in heard], request.get("input"), questions, {})
                self._asked |= dict.fromkeys(asked.permissions, asked)
                self._ears.put(*heard)
            case "hook_callback":
                given = request.get("input")
                tool = str(given.get("tool_name")) if isinstance(given, dict) else ""
                is_hub = tool.startswith(f"{HUB_TOOLS}__")
                self._line.do(self._line.send(_build_response(id, {} if is_hub else _ASK)))
            case subtype:
                error = {"subtype": "error", "request_id": id, "error": f"{subtype} is not supported"}
                self._line.do(self._line.send({"type": "control_response", "response": error}))

    def _withdraw(self, request_id: str) -> None:
        """Nobody waits for those answers any more."""
        gone = [permission for permission, asked in self._asked.items() if asked.request_id == request_id]
        for one in gone:
            del self._asked[one]
        self._ears.put(*map(PermissionWithdrawn, gone))

    def _handle_progress(self, message_id: str, state: str) -> None:
        self._tells_progress = True
        if state == "queued" or self._turn is None:
            return
        self._turn.waiting.discard(message_id)
        if state == "started" and self._turn.is_cancelled:
            # It was interrupted before it read this, and would continue with it.
            self._line.do(self._interrupt())

    def _handle_result(self, result: JsonObject) -> None:
        """A result ends the turn, unless messages that it does not cover are still unread."""
        turn = self._turn
        if turn is None or (self._tells_progress and turn.waiting):
            return
        self._turn = None
        for asked in list(self._asked.values()):
            self._withdraw(asked.request_id)
        self._translator.forget()
        used = msgspec.structs.replace(self.account.close(result), is_last=True)
        self._ears.put(used, self._judge(turn, read_turn_end(result)))

    def _judge(self, turn: ClaudeTurn, end: TurnEnded) -> TurnEnded:
        """What is said to have failed because of the interruption was cancelled; or the account is used up."""
        if end.reason != "failed":
            self._resets_at = None
            return end
        if turn.is_cancelled:
            return TurnEnded(reason="cancelled")
        if self._resets_at is None:
            return end
        return TurnEnded(reason="quota", error=end.error, resets_at=self._resets_at or None)


def _add_answers(asked: ClaudeRequest) -> JsonObject:
    given = asked.input if isinstance(asked.input, dict) else {}
    return {**given, "answers": asked.answers}


def _build_request(id: str, subtype: str, **fields: Any) -> JsonObject:
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **fields}}


def _build_response(request_id: str, response: JsonObject) -> JsonObject:
    return {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": response},
    }
