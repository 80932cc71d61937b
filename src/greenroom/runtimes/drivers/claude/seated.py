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
from greenroom.runtimes.drivers.claude.translate import questions_of, text_of, title_of
from greenroom.runtimes.drivers.pty.session import PtySession
from greenroom.runtimes.transports.pty import TerminalLine

_READY = r"for\s*shortcuts"
_FREE_S = 60.0
_QUIET_S, _STOP_S = 0.5, 3.0
_ESCAPE = b"\x1b"


class SeatedClaude(PtySession):
    """One conversation. What Claude Code asks, it asks here and at the terminal: the first answer counts."""

    def __init__(self, line: TerminalLine, session: str, folder: Path) -> None:
        super().__init__(line, {"ready": _READY}, session)
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
        self._is_put = True
        await super()._put(text, wait=wait)

    async def cancel(self) -> None:
        if self._in_turn:
            self._is_put = False
            self._free.set()
            self._line.type(_ESCAPE)
            await self._line.quiet(_QUIET_S, _STOP_S)  # right before other keys it would be taken for a part of theirs
            self._turn_over(TurnEnded(reason="cancelled"))

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
        if self._asked.pop(permission, None) is None:
            return
        said: Json = {"behavior": "allow"}
        if decision != "allow":
            said = {"behavior": "deny", "message": text or "This was not allowed. Go on without it."}
        if decision == "cancel":
            said["interrupt"] = True
        self._bell.answer(permission, {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": said}})
        if decision == "cancel":
            self._turn_over(TurnEnded(reason="cancelled"))

    async def close(self) -> None:
        self._bell.close()
        await super().close()


def _is_same(asked: Json, done: Json) -> bool:
    return (asked.get("tool_name"), asked.get("tool_input")) == (done.get("tool_name"), done.get("tool_input"))


def _output(response: Any) -> str:
    if isinstance(response, dict):
        return "\n".join(str(response[name]) for name in ("stdout", "stderr") if response.get(name))
    return text_of(response)
