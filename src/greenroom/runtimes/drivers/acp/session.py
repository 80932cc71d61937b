"""A session with an ACP agent: turns that may take several prompts, permissions, and the end of its process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import msgspec

from greenroom.ids import new_id
from greenroom.json_types import JsonObject, ToolArguments
from greenroom.link.hub_tools import HUB
from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import (
    Decision,
    Died,
    Heard,
    Opened,
    PermissionWithdrawn,
    Process,
    Said,
    Thought,
    TurnEnded,
    Usage,
)
from greenroom.runtimes.drivers.acp import form
from greenroom.runtimes.drivers.acp.translator import AcpTranslator, choose_option, find_options
from greenroom.runtimes.drivers.acp.turn_end import TokenCount, TokenMeter, read_turn_end, read_turn_failure
from greenroom.runtimes.drivers.acp.usage_file_reader import UsageFileReader
from greenroom.runtimes.prompt_text import PromptQuoting
from greenroom.runtimes.transports.acp import METHOD_NOT_FOUND, AcpConnection, AcpError
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.sentences import build_sentence

_LINGER_S = 2.0
_FOLLOWS_S = 3.0
"""How long the arguments of a call may arrive after its start."""
_QUIET_ANSWERS = 2
_WITHDRAWN = {"outcome": {"outcome": "cancelled"}}


class AcpRequest(msgspec.Struct, frozen=True):
    """Something that the agent waits for."""

    request: Any
    params: JsonObject
    is_form: bool
    title: str = ""


class AcpTurn(msgspec.Struct):
    """From a prompt until the agent has nothing more to answer."""

    open_prompts: int = 0
    refused: list[tuple[str, str]] = []
    """What was refused in it: title, and words for the model, which ACP has no place for."""
    is_cancelled: bool = False


class AcpSession:
    """One conversation with one process."""

    def __init__(self, manifest: AcpManifest, process: Process, way: PromptQuoting, hub: str = HUB) -> None:
        self._manifest = manifest
        self._way = way
        self._process = process
        self._ears = HeardQueue()
        self._translator = AcpTranslator(manifest, hub)
        self._meter = TokenMeter(manifest)
        self._usage_files: UsageFileReader | None = None
        self._told_used: TokenCount | None = None
        self.link = AcpConnection(process, self._handle_message, self._ears.wait_for_room)
        self._session = ""
        self._preface: str | None = None
        self._task: JsonObject = {}
        self._resumes = False
        self._cost_before: float | None = 0.0
        self._is_open = False
        self._turn: AcpTurn | None = None
        self._asked: dict[str, AcpRequest] = {}
        self._updated = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching = asyncio.create_task(self._watch(), name=f"acp agent {process.pid}")

    async def wait_for_replay(self) -> None:
        """Wait until the agent has sent all of a session's history: several answers come without an update between.

        The request is for a method that no agent has.
        """
        is_quiet = 0
        while is_quiet < _QUIET_ANSWERS:
            self._updated.clear()
            with contextlib.suppress(AcpError):
                await self.link.request("_greenroom/are_you_done", {})
            is_quiet = 0 if self._updated.is_set() else is_quiet + 1

    def begin(
        self,
        session: str,
        opened: Opened,
        *,
        preface: str | None,
        is_resumed: bool,
        record: UsageFileReader | None,
    ) -> None:
        """The agent is ready; what it sent so far, such as a replay of its history, is not for the reader."""
        self._session = session
        self._usage_files = record
        self._preface = preface
        if is_resumed:
            self._cost_before = self._translator.cost_usd
        self._is_open = True
        self._ears.put(opened)

    def listen(self) -> AsyncIterator[Heard]:
        return self._ears.listen()

    def set_task(self, task: str, *, resumes: bool, is_step: bool = False) -> None:
        self._task, self._resumes = {"task": task, "is_step": is_step}, resumes

    async def prompt(self, text: str) -> None:
        self._turn = AcpTurn()
        self._meter.begin()
        self._told_used = None
        if self._usage_files is not None:
            self._usage_files.begin_turn()
        if self._preface:
            text, self._preface = f"{self._preface}\n\n{text}", None
        self._send(self._turn, text)

    async def steer(self, text: str) -> bool:
        turn = self._turn
        if turn is None or turn.is_cancelled or self._manifest.second_prompt != "queued":
            return False
        self._send(turn, text)
        return True

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        asked = self._asked.get(permission)
        if asked is None:
            return
        if decision == "cancel":
            await self.cancel()
            return
        del self._asked[permission]
        if asked.is_form:
            content = form.fill_form(asked.params, text) if decision == "allow" else None
            result: JsonObject = (
                {"action": "accept", "content": content} if content is not None else {"action": "decline"}
            )
        else:
            option = choose_option(find_options(asked.params), decision, text)
            result = {"outcome": {"outcome": "selected", "optionId": option}} if option else _WITHDRAWN
            if decision == "deny" and self._turn is not None:
                self._turn.refused = [*self._turn.refused, (asked.title, text)]
        with contextlib.suppress(ConnectionError):  # Died reports it
            await self.link.answer(asked.request, result)

    async def cancel(self) -> None:
        if self._turn is None:
            return
        self._turn.is_cancelled = True
        waiting, self._asked = self._asked, {}
        self._ears.put(*(PermissionWithdrawn(permission) for permission in waiting))
        with contextlib.suppress(ConnectionError):  # Died reports it
            await self.link.notify("session/cancel", {"sessionId": self._session})
            for asked in waiting.values():
                await self.link.answer(asked.request, {"action": "cancel"} if asked.is_form else _WITHDRAWN)

    async def close(self) -> None:
        await self._process.end()
        await self._watching

    def _send(self, turn: AcpTurn, text: str) -> None:
        turn.open_prompts += 1
        self._do(self._carry_out(turn, text))

    async def _carry_out(self, turn: AcpTurn, text: str) -> None:
        """One prompt and its answer; the last one of a turn ends it, unless there is more to say to the model."""
        self._translator.begin()
        params: JsonObject = {"sessionId": self._session, "prompt": [{"type": "text", "text": self._way.quote(text)}]}
        if self._manifest.knows_tasks and self._task:
            params["_meta"] = {"greenroom": {**self._task, "resumes": self._resumes}}
            self._resumes = False
        try:
            answer = await self.link.request("session/prompt", params)
            self._meter.count(answer)
            end = self._judge(turn, read_turn_end(answer))
            end = (
                await self._usage_files.correct_end(end, self._translator.last_said)
                if self._usage_files is not None
                else end
            )
        except AcpError as error:
            end = self._judge(turn, read_turn_failure(str(error), error.data))
        except ConnectionError:
            return  # Died reports it
        turn.open_prompts -= 1
        if turn.open_prompts:
            return
        more = self._build_followup(turn, end)
        if more:
            self._send(turn, more)
        else:
            self._end_turn(end)

    def _judge(self, turn: AcpTurn, end: TurnEnded) -> TurnEnded:
        if turn.is_cancelled:
            return TurnEnded(reason="cancelled")
        if end.reason == "done" and self._translator.is_broken:
            return TurnEnded(reason="failed", error=self._translator.notice or build_sentence("run_error.runtime"))
        return end

    def _build_followup(self, turn: AcpTurn, end: TurnEnded) -> str:
        """What the model has yet to learn about refused calls: that it should continue, or a person's text."""
        refused, turn.refused = turn.refused, []
        stopped = self._manifest.refusal_ends_turn
        if turn.is_cancelled or end.reason not in ("done", "cancelled"):
            return ""
        lines = [f"You may not do this: {title}\n{words}".rstrip() for title, words in refused if words or stopped]
        return "\n\n".join([*lines, "Go on without it."]) if lines else ""

    def _end_turn(self, end: TurnEnded) -> None:
        self._turn = None
        waiting, self._asked = self._asked, {}
        self._ears.put(*(PermissionWithdrawn(permission) for permission in waiting), *self._translator.finish_calls())
        used, written = (
            self._meter.turn,
            self._usage_files.count_turn_tokens() if self._usage_files is not None else None,
        )
        used = used | written if used and written else used or written
        cost, before = self._translator.cost_usd, self._cost_before
        self._cost_before = cost if cost is not None else before
        if used is not None:
            cost_usd = None if cost is None or before is None else round(max(0.0, cost - before), 9)
            self._ears.put(Usage(used.input, used.output, cost_usd, used.model, is_last=True))
        self._ears.put(end)

    def _handle_message(self, method: str, params: JsonObject, request: Any) -> None:
        match method:
            case "session/update":
                update = params["update"] if isinstance(params.get("update"), dict) else {}
                heard = self._translator.translate_update(update)
                if self._is_open:
                    self._ears.put(*heard)
                    if not any(isinstance(one, Said | Thought) for one in heard):
                        self._ears.put(*self._find_new_usage(update))
                self._updated.set()
            case "session/request_permission" | "elicitation/create" if self._turn is None:
                is_form = method == "elicitation/create"
                self._do(self.link.answer(request, {"action": "cancel"} if is_form else _WITHDRAWN))
            case "session/request_permission":
                permission = new_id("prm")
                call = params.get("toolCall")
                title = str(call.get("title") or "") if isinstance(call, dict) else ""
                self._asked[permission] = AcpRequest(request, params, False, title)
                if self._translator.is_call_known(params):
                    self._ears.put(*self._translator.translate_permission(permission, params))
                else:
                    self._do(self._ask_when_known(permission, params))
            case "elicitation/create" if params.get("mode", "form") == "form":
                permission = new_id("prm")
                self._asked[permission] = AcpRequest(request, params, True)
                self._ears.put(form.build_question(permission, params))
            case _ if request is not None:
                self._do(self.link.refuse(request, METHOD_NOT_FOUND, "Method not found"))

    def _find_new_usage(self, update: JsonObject) -> list[Heard]:
        """What the turn has used, if the agent has reported or recorded more than before."""
        if self._turn is None:
            return []
        used = (
            self._usage_files.count_turn_tokens() if self._usage_files is not None else self._meter.count_call(update)
        )
        if used is None or used == self._told_used:
            return []
        self._told_used = used
        return [Usage(used.input, used.output, None, used.model)]

    async def _ask_when_known(self, permission: str, params: JsonObject) -> None:
        """Nobody can say yes to a call without its arguments; should they not follow, it is asked as it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FOLLOWS_S):
                while not self._translator.is_call_known(params):
                    self._updated.clear()
                    await self._updated.wait()
        if permission in self._asked:
            self._ears.put(*self._translator.translate_permission(permission, params))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watch(self) -> None:
        """Wait for the end, which either sign alone is not: a child may hold the pipe, or the agent closed its own."""
        gone = asyncio.create_task(self._process.wait())
        silent = asyncio.create_task(self.link.ended.wait())
        await asyncio.wait({gone, silent}, return_when=asyncio.FIRST_COMPLETED)
        self._ears.lift_limit()
        await asyncio.wait({gone, silent}, timeout=_LINGER_S)
        await self._process.end()
        code = await gone
        silent.cancel()
        await self.link.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ears.put(Died(code, self._process.last_words()))
        self._ears.end()
