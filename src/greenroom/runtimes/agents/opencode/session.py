"""A session on OpenCode's server, also while a person's terminal is attached to it."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator

import msgspec

from greenroom.json_types import JsonObject, ToolArguments
from greenroom.runtimes.agents.opencode import manifest
from greenroom.runtimes.agents.opencode.limits import get_retry_end, get_step_limit_end
from greenroom.runtimes.agents.opencode.requests import OpencodeRequest, is_call_known, read_permission, read_question
from greenroom.runtimes.agents.opencode.server import OpencodeServer, drain
from greenroom.runtimes.agents.opencode.translator import AssistantMessage, OpencodeTranslator, read_turn_end
from greenroom.runtimes.attachable import AttachCommand
from greenroom.runtimes.contract import Decision, Heard, Opened, PermissionWithdrawn, Process, TurnEnded
from greenroom.runtimes.launch_error import explain_failure
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.runtimes.transports.json_lines import JsonLines

_IDS = 1 << 48
_TITLE = 60
_FOLLOWS_S = 3.0
"""How long the arguments of a call may arrive after its start."""


class OpencodeTurn(msgspec.Struct):
    """From a prompt until the agent has nothing more to answer."""

    messages: list[str]
    """The ids that we gave to the messages in it."""
    has_begun: bool = False
    has_answered: bool = False
    """Whether the model is being asked. To stop OpenCode before that breaks it: every later turn is stopped as well."""
    is_idle: bool = False
    is_cancelled: bool = False
    given_up: TurnEnded | None = None
    """How it ends because it was not worth waiting for."""


def make_message_id() -> str:
    """An id as OpenCode makes them: it sorts messages by them, so that they begin with the time."""
    at = (time.time_ns() // 1_000_000 * 0x1000) % _IDS
    return f"msg_{at:012x}{secrets.token_hex(7)}"


def _build_title(text: str) -> str:
    """What OpenCode lists the session under: how its first prompt begins."""
    return " ".join(text[: 4 * _TITLE].split())[:_TITLE] or "Greenroom"


class OpencodeSession:
    """One session on a server of its own."""

    def __init__(self, process: Process, server: OpencodeServer, hub: str, most_steps: int | None) -> None:
        self._server = server
        self._most_steps = most_steps
        self._ears = HeardQueue()
        self._translator = OpencodeTranslator(hub)
        self._id = ""
        self._beside: AttachCommand | None = None
        self._turn: OpencodeTurn | None = None
        self._aborting = 0
        self._asked: dict[str, OpencodeRequest] = {}
        self._has_title = True
        self._untold: set[str] = set()
        """Requests that came before the arguments of their calls."""
        self._updated = asyncio.Event()
        self._draining = asyncio.create_task(drain(process), name=f"stdout of {process.pid}")
        self._line = JsonLines(process, self._handle_event, self._ears, server)

    def begin(self, opened: Opened, beside: AttachCommand, *, is_new: bool) -> None:
        self._id = self._translator.session = opened.session
        self._has_title = not is_new
        self._beside = beside
        self._ears.put(opened)

    def attach_command(self) -> AttachCommand | None:
        """OpenCode's own terminal program on this session, beside us."""
        return self._beside

    async def listen(self) -> AsyncIterator[Heard]:
        async for one in self._ears.listen():
            yield one
        await self._server.close()

    async def prompt(self, text: str) -> None:
        turn = self._turn = OpencodeTurn([make_message_id()])
        self._translator.begin()
        try:
            if not self._has_title:  # else OpenCode has the model make one, and reports to nobody what that used
                await self._server.request("PATCH", f"/session/{self._id}", {"title": _build_title(text)})
                self._has_title = True
            await self._say(turn.messages[0], text)
        except (ValueError, ConnectionError) as error:
            if self._turn is turn:
                self._turn = None
                self._ears.put(TurnEnded(reason="failed", error=explain_failure(error)))

    async def steer(self, text: str) -> bool:
        turn = self._turn
        if turn is None or turn.is_cancelled:
            return False
        id = make_message_id()
        turn.messages.append(id)  # from now on the turn is not over before this is answered
        try:
            await self._say(id, text)
        except (ValueError, ConnectionError):
            turn.messages.remove(id)
            return False
        return True

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        asked = self._asked.pop(permission, None)
        if asked is None:
            return
        if decision == "allow" and asked.is_question:
            asked.answers = {**asked.answers, permission: text}
            if len(asked.answers) < len(asked.permissions):
                return
        self._withdraw(asked.request)
        await self._post(*asked.build_reply(decision, text))
        if decision == "cancel":
            await self.cancel()

    async def cancel(self) -> None:
        turn = self._turn
        if turn is None:
            return
        turn.is_cancelled = True
        waiting = {asked.request: asked for asked in self._asked.values()}
        for request, asked in waiting.items():  # else OpenCode lists them until it ends
            self._withdraw(request)
            await self._post(*asked.build_reply("cancel", ""))
        if turn is self._turn and turn.has_answered:  # it may have ended with that
            await self._abort()

    async def close(self) -> None:
        await self._line.close()
        await asyncio.gather(self._draining, return_exceptions=True)
        await self._server.close()

    async def _say(self, id: str, text: str) -> None:
        body = {"messageID": id, "parts": [{"type": "text", "text": manifest.QUOTING.quote(text)}]}
        await self._server.request("POST", f"/session/{self._id}/prompt_async", body)

    async def _abort(self) -> None:
        """Stop the turn; it has not ended before this is done, which would else hit the next one."""
        self._aborting += 1
        await self._post(f"/session/{self._id}/abort", None)
        self._aborting -= 1
        self._end_if_over()

    async def _check_idle(self, turn: OpencodeTurn) -> None:
        """It idles and has not answered: it was stopped, or this is still about an earlier turn and it will begin."""
        try:
            status = await self._server.request("GET", "/session/status")
        except (ValueError, ConnectionError):
            return
        own = status.get(self._id) if isinstance(status, dict) else None
        is_busy = isinstance(own, dict) and own.get("type") != "idle"
        if turn is self._turn and turn.is_idle and not is_busy:
            self._end(turn)

    async def _post(self, path: str, body: JsonObject | None) -> None:
        """Send a message that may come too late; then nothing is left to send."""
        try:
            await self._server.request("POST", path, body)
        except (ValueError, ConnectionError):
            return

    def _handle_event(self, event: JsonObject) -> None:
        kind, properties = str(event.get("type")), event.get("properties")
        if not isinstance(properties, dict):
            return
        match kind:
            case "permission.asked" if is_call_known(self._translator, properties):
                self._handle_request(*read_permission(self._translator, properties))
            case "permission.asked":
                self._untold.add(str(properties["id"]))
                self._line.do(self._ask_when_known(properties))
            case "question.asked":
                self._handle_request(*read_question(properties))
            case "permission.replied" | "question.replied" | "question.rejected":
                self._withdraw(str(properties.get("requestID")))
            case "session.created" | "message.updated" if properties.get("sessionID") != self._id:
                self._ears.put(*self._translator.translate_helper(kind, properties))
            case _ if properties.get("sessionID") == self._id:
                self._ears.put(*self._translator.translate(kind, properties))
                self._updated.set()
                self._handle_progress(kind, properties)

    async def _ask_when_known(self, properties: JsonObject) -> None:
        """Nobody can approve a call without its arguments; if they do not arrive, it is asked as it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FOLLOWS_S):
                while not is_call_known(self._translator, properties):
                    self._updated.clear()
                    await self._updated.wait()
        request = str(properties["id"])
        if request in self._untold:
            self._untold.discard(request)
            self._handle_request(*read_permission(self._translator, properties))

    def _handle_request(self, asked: OpencodeRequest, heard: list[Heard]) -> None:
        if self._turn is not None and self._turn.is_cancelled:
            self._line.do(self._post(*asked.build_reply("cancel", "")))
            return
        self._asked |= dict.fromkeys(asked.permissions, asked)
        self._ears.put(*heard)

    def _withdraw(self, request: str) -> None:
        """Nobody waits for those answers any more."""
        self._untold.discard(request)
        gone = [permission for permission, asked in self._asked.items() if asked.request == request]
        for permission in gone:
            del self._asked[permission]
        self._ears.put(*map(PermissionWithdrawn, gone))

    def _handle_progress(self, kind: str, properties: JsonObject) -> None:
        turn = self._turn
        if turn is None:
            return
        match kind, properties:
            case "session.status", {"status": {"type": "busy" | "retry"} as status}:
                turn.has_begun, turn.is_idle = True, False
                if status["type"] == "retry" and turn.given_up is None:
                    turn.given_up = get_retry_end(status, time.time_ns() // 1_000_000)
                    if turn.given_up is not None:
                        self._line.do(self._abort())
            case "message.part.updated", {"part": {"messageID": id}} if id in self._translator.answers:
                if turn.is_cancelled and not turn.has_answered:
                    self._line.do(self._abort())
                turn.has_answered = True
            case "session.idle", _ if turn.has_begun:
                turn.is_idle = True
                self._end_if_over()

    def _end_if_over(self) -> None:
        """OpenCode reports more than once that it idles: it is true when the last answer is complete."""
        turn = self._turn
        if turn is None or not turn.is_idle or self._aborting:
            return
        answer = self._get_answer(turn)
        if answer is None:
            self._line.do(self._check_idle(turn))
        elif answer.is_complete:
            self._end(turn)

    def _end(self, turn: OpencodeTurn) -> None:
        self._turn = None
        for asked in list(self._asked.values()):
            self._withdraw(asked.request)
        answer = self._get_answer(turn)
        if self._translator.error is not None:
            answer = AssistantMessage(error=self._translator.error)
        stopped = turn.is_cancelled or answer is None  # then somebody has stopped it before it answered
        end = read_turn_end(answer, is_cancelled=stopped)
        if turn.given_up is not None and not turn.is_cancelled:
            end = turn.given_up
        elif end.reason == "done":
            end = get_step_limit_end(self._count_steps(turn), self._most_steps) or end
        self._ears.put(*self._translator.finish_calls(), end)

    def _count_steps(self, turn: OpencodeTurn) -> int:
        """The model's answers since the newest of what was said, from which OpenCode counts them."""
        return len([one for one in self._translator.answers.values() if one.parent == turn.messages[-1]])

    def _get_answer(self, turn: OpencodeTurn) -> AssistantMessage | None:
        """The agent's newest message to the newest of what was said."""
        found = [one for one in self._translator.answers.values() if one.parent == turn.messages[-1]]
        return found[-1] if found else None
