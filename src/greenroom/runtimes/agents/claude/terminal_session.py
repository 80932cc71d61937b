"""A session with Claude Code in its own terminal program, to which people can attach while the hub drives it."""

import asyncio
import contextlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from greenroom.json_types import JsonObject, ToolArguments
from greenroom.runtimes.agents.claude import manifest
from greenroom.runtimes.agents.claude.hooks import HookListener
from greenroom.runtimes.agents.claude.terminal_title import TerminalTitle
from greenroom.runtimes.agents.claude.transcript_usage import TranscriptUsage
from greenroom.runtimes.agents.claude.translator import build_title, extract_text, find_questions
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Decision,
    PermissionAsked,
    PermissionWithdrawn,
    Said,
    TurnEnded,
)
from greenroom.runtimes.drivers.pty.session import PtySession
from greenroom.runtimes.transports.pty import ENTER, TerminalLine
from greenroom.sentences import build_sentence

_READY_S, _HUB_S, _FREE_S, _BEGIN_S = 30.0, 15.0, 60.0, 10.0
_ECHO_S, _ECHOED_S = 0.2, 2.0
_TAKEN_S, _ECHOED = 20.0, 8
"""How long it may take until a text is seen in the input, and how many characters of it are looked for."""
_SUBMIT_S, _SUBMITS = 5.0, 3
_QUIET_S, _STOP_S = 0.5, 3.0
_ACCOUNT_S, _LOOK_S = 2.0, 0.05
_ESCAPE, _ESCAPES = b"\x1b", 3
_ERASE = b"\x1b[117;5u"
"""Ctrl+U erases from the cursor to where the line begins or was broken, and there the end of the line before.
It is spelled out, for many of the plain ones in a row would be taken for a paste."""
_ERASE_AFTER = b"\x1b[107;5u"
"""Ctrl+K erases from the cursor to the end of the line, and there the line break."""
_LEAVE_MODE = b"\x7f"
"""In an empty input, Backspace leaves the mode in which it is a shell's."""
_DRAFT = 40
"""How often to erase at least: one key brings a long text of an earlier prompt back."""
_IN_USE = build_sentence("run_error.claude_busy")
_NOT_TAKEN = build_sentence("run_error.claude_not_taken")
_NARROW = 10
"""No terminal has so few columns."""


class ClaudeTerminalSession(PtySession):
    """One conversation. What Claude Code asks, it asks here and at the terminal: the first answer counts."""

    def __init__(
        self, line: TerminalLine, session: str, folder: Path, ledger: TranscriptUsage, hub_asked: asyncio.Event | None
    ) -> None:
        super().__init__(line, {}, manifest.ATTACHED_QUOTING, session)
        self._hub_asked = hub_asked
        self._ledger = ledger
        self._transcript: Path | None = None
        self._transcript_name = f"{session}.jsonl"
        self._cost_told = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        """What waits until all is known that a turn has used."""
        self._title = TerminalTitle(line)
        self._hands = asyncio.Lock()
        """Held by who presses keys, for as long as others would be misunderstood."""
        self._is_ready = False
        self._typed = self._left = 0
        """How often to erase until all that was put in is gone, and what a stopped turn has left in the input."""
        self._asked: dict[str, JsonObject] = {}
        self._stops_with: Counter[str] = Counter()
        """How often this turn has stopped with each answer: it continues after a stop at which helpers still worked."""
        self._calls: dict[str, JsonObject] = {}
        """Calls that are not over, for a question does not name the one that it is about."""
        self._free = asyncio.Event()
        """Whether nobody at the terminal has said something that is still being worked at."""
        self._free.set()
        self._is_put = False
        self._bell = HookListener(folder, self._handle_hook)

    async def prompt(self, text: str) -> None:
        self._is_put = False
        self._stops_with.clear()
        await super().prompt(text)

    async def _put(self, text: str, *, wait: bool) -> None:
        with contextlib.suppress(TimeoutError):  # nobody reports that a person stopped Claude Code at the terminal
            async with asyncio.timeout(_FREE_S):
                await self._free.wait()
        async with self._hands:
            if not self._is_ready:
                await self._get_ready()
            is_free = await self._title.wait_until_idle(_FREE_S)  # a turn that is over is still being tidied up
            if self._asked or not is_free:  # Enter could answer what it asks a person
                self._end_turn(TurnEnded(reason="failed", error=_IN_USE))
                return
            self._calls.clear()  # a turn that was stopped does not report their ends
            with self._line.hold_typed_keys():
                await self._empty_input()
                self._left = self._typed = _count_erasures(text)
                self._line.forget_words()
                self._line.put(text, self._way)
                is_there = await self._line.wait_for_pattern(_build_echo(self._way.quote(text)), _TAKEN_S)
                await self._line.wait_until_quiet(
                    _ECHO_S, _ECHOED_S
                )  # Enter right behind it would be taken for a part of it
                self._left, self._is_put = 0, True
                if not is_there or not await self._submit():
                    self._is_put = False
                    self._end_turn(TurnEnded(reason="failed", error=_NOT_TAKEN))

    async def _empty_input(self) -> None:
        """Erase what a stopped turn or a person has left there, or it would be sent with the prompt."""
        drafted, self._line.keys_of_people = self._line.keys_of_people, 0
        count = self._left + _DRAFT + drafted // 2
        self._line.press(_ERASE * count + _ERASE_AFTER * count + _LEAVE_MODE)
        await self._line.wait_until_quiet(_ECHO_S, _ECHOED_S)

    async def _get_ready(self) -> None:
        """Wait until it shows where to type, and has the hub's tools: at its terminal it would begin without them."""
        for event, within_s in ((self._cost_told, _READY_S), (self._hub_asked, _HUB_S)):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    if event is not None:
                        await event.wait()
        await self._line.wait_until_quiet(_ECHO_S, _ECHOED_S)
        self._is_ready = True

    async def _submit(self) -> bool:
        """Press Enter, which is lost while the screen is being set up.

        Never press it once Claude Code works, because it could answer a question there.
        """
        self._title.forget()
        for _ in range(_SUBMITS):
            if self._calls or self._asked:
                return True
            self._line.press(ENTER)
            if await self._title.wait_until_working(_SUBMIT_S):
                return True
        return False

    async def steer(self, text: str) -> bool:
        return False  # a key pressed while it works could answer what it asks

    async def cancel(self) -> None:
        if not self._in_turn:
            return
        if self._typing is not None and not self._typing.done():
            self._typing.cancel()
            await asyncio.gather(self._typing, return_exceptions=True)
        async with self._hands:
            if self._is_put:
                await self._stop()
                if not self._is_put:
                    return  # it came to its end by itself, and the next may have been asked for
                self._left = self._typed
            self._is_put = False
            self._free.set()
            self._end_turn(TurnEnded(reason="cancelled"))

    async def _stop(self) -> None:
        """Press Escape until it works no more; what it was asked is then in its input again."""
        if self._asked:  # it may take no keys yet
            for number in list(self._asked):
                self._reply(number, "cancel", "")
            await self._line.wait_until_quiet(_QUIET_S, _STOP_S)
            return
        await self._title.wait_until_working(_BEGIN_S)  # before that, Escape would stop nothing
        for _ in range(_ESCAPES):
            if not self._is_put:
                return
            self._line.press(_ESCAPE)
            await self._line.wait_until_quiet(
                _QUIET_S, _STOP_S
            )  # right before other keys it would be taken for a part of theirs
            if await self._title.wait_until_idle(_STOP_S):
                return

    def _handle_hook(self, kind: str, number: str, told: JsonObject) -> None:
        tool, given, call = str(told.get("tool_name") or ""), told.get("tool_input"), str(told.get("tool_use_id") or "")
        if (written := Path(str(told.get("transcript_path") or ""))).name == self._transcript_name:
            self._transcript = written
        said = str(told.get("last_assistant_message") or "")
        if kind == "turn":
            self._stops_with[said] += 1
        match kind:
            case "status":
                self._ledger.tell_cost(told)
                self._cost_told.set()
            case "prompt" if self._is_put:
                self._title.begin()
            case "prompt":
                self._free.clear()
            case "call":
                self._calls[call] = told
                self._ears.put(CallStarted(call=call, tool=tool, title=build_title(given), input=given))
            case "ask" if find_questions({"tool_name": tool, "input": given}):
                self._bell.answer(number, {})  # they are for the person at the terminal
            case "ask":
                self._asked[number] = told
                about = next((id for id, one in self._calls.items() if _is_same(one, told)), call)
                title = build_title(given)
                self._ears.put(PermissionAsked(permission=number, call=about, tool=tool, title=title, input=given))
            case "done":
                self._calls.pop(call, None)
                self._withdraw_answered([n for n, one in self._asked.items() if _is_same(one, told)][:1])
                self._ears.put(CallFinished(call=call, ok=True, output=_extract_output(told.get("tool_response"))))
                self._tell_usage()
            case "turn" if _is_waiting_for_helpers(told):
                self._withdraw_answered(list(self._asked))
            case "turn":
                self._calls.clear()
                self._withdraw_answered(list(self._asked))
                self._free.set()
                if self._in_turn and self._is_put:
                    self._is_put = False
                    self._ears.put(Said(said))
                    self._closing = asyncio.create_task(self._close_turn(said), name="account of a turn")

    async def _close_turn(self, said: str) -> None:
        """The turn is over as soon as its usage is recorded and reported, which is a moment later."""
        self._cost_told.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ACCOUNT_S):
                while self._transcript is not None and not self._ledger.has_said(said, self._stops_with[said]):
                    await asyncio.sleep(_LOOK_S)
                    self._ledger.read_more(self._transcript)
                await self._cost_told.wait()
        self._closing = None
        self._end_turn(TurnEnded(reason="done"))

    def _end_turn(self, ended: TurnEnded) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        if self._in_turn:
            self._tell_usage(is_last=True)
            self._ledger.close()
        super()._end_turn(ended)

    def _tell_usage(self, *, is_last: bool = False) -> None:
        if self._transcript is None or not self._in_turn:
            return
        self._ledger.read_more(self._transcript)
        used = self._ledger.count_used()
        if is_last or used.input_tokens:  # the transcript is written a little later than the call is reported
            self._ears.put(msgspec.structs.replace(used, is_last=is_last))

    def _withdraw_answered(self, numbers: list[str]) -> None:
        for number in numbers:
            del self._asked[number]
            self._ears.put(PermissionWithdrawn(number))

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        if permission not in self._asked:
            return
        self._reply(permission, decision, text)
        if decision == "cancel":
            self._left = self._typed
            self._end_turn(TurnEnded(reason="cancelled"))

    def _reply(self, permission: str, decision: Decision, text: str) -> None:
        del self._asked[permission]
        said: JsonObject = {"behavior": "allow"}
        if decision != "allow":
            said = {"behavior": "deny", "message": text or "This was not allowed. Go on without it."}
        if decision == "cancel":
            said["interrupt"] = True
        self._bell.answer(permission, {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": said}})

    async def close(self) -> None:
        self._bell.close()
        await super().close()


def _is_waiting_for_helpers(told: JsonObject) -> bool:
    """Whether it continues by itself, after a helper in the background has ended."""
    tasks = told.get("background_tasks")
    kinds = [(task.get("type"), task.get("status")) for task in tasks or [] if isinstance(task, dict)]
    return ("subagent", "running") in kinds


def _build_echo(text: str) -> str:
    """What is seen in the input once the text is in it: its beginning, or what stands for a long one."""
    seen = [character for character in text if character.isprintable() and not character.isspace()]
    beginning = r"[\s\u200c\u200d\ufe00-\ufe0f]*".join(map(re.escape, seen[:_ECHOED]))
    return rf"{beginning}|\[Pasted\s*text"


def _count_erasures(text: str) -> int:
    return 2 * text.count("\n") + len(text) // _NARROW + 2


def _is_same(asked: JsonObject, done: JsonObject) -> bool:
    return (asked.get("tool_name"), asked.get("tool_input")) == (done.get("tool_name"), done.get("tool_input"))


def _extract_output(response: Any) -> str:
    if isinstance(response, dict):
        return "\n".join(str(response[name]) for name in ("stdout", "stderr") if response.get(name))
    return extract_text(response)
