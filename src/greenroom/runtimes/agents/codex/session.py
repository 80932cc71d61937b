"""A session with Codex: one thread of its app server, also while a person's terminal is attached to it."""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import msgspec

from greenroom.ids import new_id
from greenroom.json_types import JsonObject, ToolArguments
from greenroom.runtimes.agents.codex import manifest
from greenroom.runtimes.agents.codex.requests import ACCEPTED, CodexRequest, build_answer, is_hub_call, read_request
from greenroom.runtimes.agents.codex.translator import CodexTranslator
from greenroom.runtimes.attachable import AttachCommand
from greenroom.runtimes.contract import Decision, Heard, Opened, PermissionWithdrawn, Process, TurnEnded
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.runtimes.transports.json_lines import JsonLines, Lines
from greenroom.sentences import Words, build_sentence

_METHOD_NOT_FOUND = -32601


class CodexTurn(msgspec.Struct):
    """From a prompt until the agent has read and answered all messages."""

    request: int = 0
    """The request that started it, or joined one of a person's; its answer has the turn's id."""
    id: str = ""
    unanswered: dict[str, str] = {}
    """What was said, by the ids that we gave, and after which the model has done nothing yet."""
    taken_up: set[str] = set()
    """What of that the model has been shown."""
    is_repeated: bool = False
    is_cancelled: bool = False

    def accept(self, said: JsonObject) -> None:
        """Codex has this."""
        self.unanswered[said["clientUserMessageId"]] = said["input"][0]["text"]


class CodexSession:
    """One thread in one process."""

    def __init__(self, process: Process, lines: Lines | None = None) -> None:
        self._ears = HeardQueue()
        self._translator = CodexTranslator()
        self._numbers = count(1)
        self._thread = ""
        self._attach_command: AttachCommand | None = None
        self._turn: CodexTurn | None = None
        self._active: dict[str, str] = {}
        """The turns that are under way, by thread: ours, and those of the agent's helpers."""
        self._asked: dict[str, CodexRequest] = {}
        self._steering: dict[int, JsonObject] = {}
        """Messages that were sent into the turn and not accepted yet, by request."""
        self._tells_progress = False
        """Whether it reports by our ids what it reads."""
        self._line = JsonLines(process, self._handle_message, self._ears, lines)

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the app server. Raises ValueError when it says no, ConnectionError when it is gone."""
        return await self._ask(next(self._numbers), method, params)

    async def _ask(self, number: int, method: str, params: JsonObject) -> JsonObject:
        found = await self._line.ask(number, {"id": number, "method": method, "params": params})
        if "error" in found:
            raise ValueError(_format_error(found))
        result = found.get("result")
        return result if isinstance(result, dict) else {}

    async def notify(self, method: str) -> None:
        await self._line.send({"method": method})

    def begin(self, opened: Opened, model: str | None, attach_command: AttachCommand | None) -> None:
        """The thread is open; earlier notifications, such as its usage, are not for the reader."""
        self._thread = opened.session
        self._translator.model = model
        self._attach_command = attach_command
        self._ears.put(opened)

    def attach_command(self) -> AttachCommand | None:
        """Codex's own terminal program on this thread, beside us."""
        return self._attach_command

    def listen(self) -> AsyncIterator[Heard]:
        return self._ears.listen()

    async def prompt(self, text: str) -> None:
        self._turn = CodexTurn()
        self._translator.begin()
        await self._start(self._turn, text)

    async def steer(self, text: str) -> bool:
        turn = self._turn
        if turn is None or turn.is_cancelled or self._active.get(self._thread) != turn.id:
            return False
        number, said = next(self._numbers), self._build_input(text)
        self._steering[number] = said
        try:
            await self._ask(number, "turn/steer", {**said, "expectedTurnId": turn.id})
        except (ValueError, ConnectionError):  # the turn has just ended, or Died reports it
            return False
        finally:
            del self._steering[number]
        return True

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        asked = self._asked.pop(permission, None)
        if asked is None:
            return
        if decision == "allow":
            asked.answers[permission] = text
            if not asked.is_answered:
                return
        else:
            self._withdraw(asked.request)
        if decision == "deny" and text:
            # A refusal has no place for words, so the turn gets them first: the model then has both at once.
            await self.steer(f"You may not do this: {asked.title}\n{text}")
        await self._line.send({"id": asked.request, "result": build_answer(asked, decision)})
        if decision == "cancel" and not asked.ends_turn:
            await self.cancel()

    async def cancel(self) -> None:
        if self._turn is not None:
            self._turn.is_cancelled = True
            for thread, id in list(self._active.items()):
                await self._interrupt(thread, id)

    async def close(self) -> None:
        await self._line.close()

    async def _start(self, turn: CodexTurn, text: str) -> None:
        turn.request, turn.id, turn.unanswered = next(self._numbers), "", {}
        params = self._build_input(text)
        turn.accept(params)
        await self._line.send({"id": turn.request, "method": "turn/start", "params": params})

    def _build_input(self, text: str) -> JsonObject:
        input = [{"type": "text", "text": manifest.QUOTING.quote(text)}]
        return {"threadId": self._thread, "clientUserMessageId": new_id("in"), "input": input}

    async def _interrupt(self, thread: str, turn: str) -> None:
        params = {"threadId": thread, "turnId": turn}
        await self._line.send({"id": next(self._numbers), "method": "turn/interrupt", "params": params})

    def _handle_message(self, message: JsonObject) -> None:
        match message:
            case {"method": str(method), "id": request}:
                self._handle_request(request, method, _extract_params(message))
            case {"method": str(method)}:
                self._handle_notification(method, _extract_params(message))
            case {"id": int(number)} if self._turn is not None and number == self._turn.request:
                self._handle_turn_started(self._turn, message)
            case {"id": int(number)}:
                if number in self._steering and self._turn is not None and "result" in message:
                    self._turn.accept(self._steering[number])
                self._line.settle(number, message)

    def _handle_turn_started(self, turn: CodexTurn, message: JsonObject) -> None:
        match message:
            case {"result": {"turn": {"id": str(id)}}}:
                turn.id = id
            case _:
                self._turn = None
                self._ears.put(TurnEnded(reason="failed", error=_format_error(message)))

    def _handle_notification(self, method: str, params: JsonObject) -> None:
        thread = str(params.get("threadId"))
        match method, params:
            case "serverRequest/resolved", {"requestId": request}:
                self._withdraw(request)
            case "item/started", {"item": dict(item)} if thread == self._thread and self._turn is not None:
                self._handle_progress(self._turn, item)
            case "turn/started", {"turn": {"id": str(id)}}:
                self._active[thread] = id
                if self._turn is not None and self._turn.is_cancelled:
                    # Before it has begun it cannot be interrupted.
                    self._line.do(self._interrupt(thread, id))
            case "turn/completed", {"turn": {"id": str(id)} as turn}:
                self._handle_turn_completed(thread, id, turn)
        is_helper = thread != self._thread
        is_ours = self._turn is not None and (is_helper or params.get("turnId") == self._turn.id)
        self._ears.put(*self._translator.translate(method, params, is_helper=is_helper, is_ours=is_ours))

    def _handle_progress(self, turn: CodexTurn, item: JsonObject) -> None:
        if item.get("type") != "userMessage":
            for answered in turn.taken_up:
                turn.unanswered.pop(answered, None)
            turn.taken_up.clear()
        elif isinstance(id := item.get("clientId"), str):
            turn.taken_up.add(id)
            self._tells_progress = self._tells_progress or id in turn.unanswered

    def _handle_turn_completed(self, thread: str, id: str, told: JsonObject) -> None:
        self._active.pop(thread, None)
        self._ears.put(*self._translator.finish(thread))
        turn, end = self._turn, self._translator.translate_turn_end(told)
        if turn is None or turn.id != id:
            return  # a helper's, or one that a person began in a terminal of their own
        if end.reason == "done" and turn.unanswered and self._tells_progress and not turn.is_repeated:
            # Codex accepts words in the last moment of a turn, and then does nothing about them.
            turn.is_repeated = True
            self._line.do(self._start(turn, "\n\n".join(turn.unanswered.values())))
            return
        self._turn = None
        for asked in list(self._asked.values()):
            self._withdraw(asked.request)
        self._ears.put(end)

    def _handle_request(self, request: Any, method: str, params: JsonObject) -> None:
        if is_hub_call(method, params):
            self._line.do(self._line.send({"id": request, "result": ACCEPTED}))
            return
        asked = read_request(self._translator, request, method, params)
        if asked is None:
            error = {"code": _METHOD_NOT_FOUND, "message": f"{method} is not supported"}
            self._line.do(self._line.send({"id": request, "error": error}))
            return
        self._asked |= {one.permission: asked for one in asked.heard}
        self._ears.put(*asked.heard)

    def _withdraw(self, request: Any) -> None:
        """Nobody waits for those answers any more."""
        gone = [permission for permission, asked in self._asked.items() if asked.request == request]
        for permission in gone:
            del self._asked[permission]
        self._ears.put(*map(PermissionWithdrawn, gone))


def _extract_params(message: JsonObject) -> JsonObject:
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def _format_error(message: JsonObject) -> Words:
    error = message.get("error")
    return str(error.get("message") or error) if isinstance(error, dict) else build_sentence("run_error.no_app_answer")
