"""A session with Claude Code in its own terminal program, at which people can sit while the hub drives it."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Decision,
    PermissionAsked,
    PermissionGone,
    Said,
    TurnEnded,
)
from greenroom.runtimes.drivers.claude.hooks import HookBell, Json
from greenroom.runtimes.drivers.claude.title import Title
from greenroom.runtimes.drivers.claude.translate import questions_of, text_of, title_of
from greenroom.runtimes.drivers.pty.session import PtySession
from greenroom.runtimes.transports.pty import TerminalLine

_READY = r"for\s*shortcuts"
_READY_S, _FREE_S, _BEGIN_S = 30.0, 60.0, 10.0
_QUIET_S, _STOP_S = 0.5, 3.0
_ESCAPE, _ESCAPES = b"\x1b", 3
_ERASE = b"\x1b[117;5u"
"""Ctrl+U erases from the cursor to where the line begins or was broken, and there the end of the line before.
It is spelled out, for many of the plain ones in a row would be taken for a paste."""
_NARROW = 10
"""No terminal has so few columns."""


class SeatedClaude(PtySession):
    """One conversation. What Claude Code asks, it asks here and at the terminal: the first answer counts."""

    def __init__(self, line: TerminalLine, session: str, folder: Path) -> None:
        super().__init__(line, {}, session)
        self._title = Title(line)
        self._hands = asyncio.Lock()
        """Held by who presses keys, for as long as others would be misunderstood."""
        self._is_ready = False
        self._typed = self._left = 0
        """How often to erase until all that was put in is gone, and what a stopped turn has left in the input."""
        self._asked: dict[str, Json] = {}
        self._calls: dict[str, Json] = {}
        """Calls that are not over, for a question does not name the one that it is about."""
        self._free = asyncio.Event()
        """Whether nobody at the terminal has said something that is still being worked at."""
        self._free.set()
        self._is_put = False
        self._bell = HookBell(folder, self._told)

    async def prompt(self, text: str) -> None:
        self._is_put = False
        await super().prompt(text)

    async def _put(self, text: str, *, wait: bool) -> None:
        with contextlib.suppress(TimeoutError):  # who stops Claude Code at the terminal tells nobody
            async with asyncio.timeout(_FREE_S):
                await self._free.wait()
        async with self._hands:
            if not self._is_ready:
                await self._line.shown(_READY, _READY_S)
                self._is_ready = True
            await self._title.waits(_FREE_S)  # a turn that is over is still being tidied up
            if self._left:
                self._line.type(_ERASE * self._left)
            self._left, self._typed = 0, _erasures(text)
            self._is_put = True
            self._title.forget()
            self._line.paste(text)

    async def steer(self, text: str) -> bool:
        self._typed += _erasures(text)
        return await super().steer(text)

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
            self._turn_over(TurnEnded(reason="cancelled"))

    async def _stop(self) -> None:
        """Press Escape until it works no more; what it was asked is then in its input again."""
        if self._asked:  # it may take no keys yet
            for number in list(self._asked):
                self._reply(number, "cancel", "")
            await self._line.quiet(_QUIET_S, _STOP_S)
            return
        await self._title.began(_BEGIN_S)  # before that, Escape would stop nothing
        for _ in range(_ESCAPES):
            if not self._is_put:
                return
            self._line.type(_ESCAPE)
            await self._line.quiet(_QUIET_S, _STOP_S)  # right before other keys it would be taken for a part of theirs
            if await self._title.waits(_STOP_S):
                return

    def _told(self, kind: str, number: str, told: Json) -> None:
        tool, given, call = str(told.get("tool_name") or ""), told.get("tool_input"), str(told.get("tool_use_id") or "")
        match kind:
            case "prompt" if not self._is_put:
                self._free.clear()
            case "call":
                self._calls[call] = told
                self._ears.put(CallStarted(call=call, tool=tool, title=title_of(given), input=given))
            case "ask" if questions_of({"tool_name": tool, "input": given}):
                self._bell.answer(number, {})  # they are for who sits at the terminal
            case "ask":
                self._asked[number] = told
                about = next((id for id, one in self._calls.items() if _is_same(one, told)), call)
                title = title_of(given)
                self._ears.put(PermissionAsked(permission=number, call=about, tool=tool, title=title, input=given))
            case "done":
                self._calls.pop(call, None)
                self._answered_there([n for n, one in self._asked.items() if _is_same(one, told)][:1])
                self._ears.put(CallFinished(call=call, ok=True, output=_output(told.get("tool_response"))))
            case "turn":
                self._calls.clear()
                self._answered_there(list(self._asked))
                self._free.set()
                if self._in_turn and self._is_put:
                    self._is_put = False
                    self._ears.put(Said(str(told.get("last_assistant_message") or "")))
                    self._turn_over(TurnEnded(reason="done"))

    def _answered_there(self, numbers: list[str]) -> None:
        for number in numbers:
            del self._asked[number]
            self._ears.put(PermissionGone(number))

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: dict[str, Any] | None = None
    ) -> None:
        if permission not in self._asked:
            return
        self._reply(permission, decision, text)
        if decision == "cancel":
            self._left = self._typed
            self._turn_over(TurnEnded(reason="cancelled"))

    def _reply(self, permission: str, decision: Decision, text: str) -> None:
        del self._asked[permission]
        said: Json = {"behavior": "allow"}
        if decision != "allow":
            said = {"behavior": "deny", "message": text or "This was not allowed. Go on without it."}
        if decision == "cancel":
            said["interrupt"] = True
        self._bell.answer(permission, {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": said}})

    async def close(self) -> None:
        self._bell.close()
        await super().close()


def _erasures(text: str) -> int:
    return 2 * text.count("\n") + len(text) // _NARROW + 2


def _is_same(asked: Json, done: Json) -> bool:
    return (asked.get("tool_name"), asked.get("tool_input")) == (done.get("tool_name"), done.get("tool_input"))


def _output(response: Any) -> str:
    if isinstance(response, dict):
        return "\n".join(str(response[name]) for name in ("stdout", "stderr") if response.get(name))
    return text_of(response)
