"""A session with a terminal program. Silence means nothing: a turn ends when the program does, or is told to end."""

import asyncio
from collections.abc import AsyncIterator

from greenroom.json_types import ToolArguments, UncheckedOptions
from greenroom.runtimes.contract import Decision, Died, Heard, Opened, TurnEnded
from greenroom.runtimes.prompt_text import PromptQuoting
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.runtimes.transports.pty import TerminalLine
from greenroom.sentences import build_sentence

_QUIET_S, _BEGIN_S, _READY_S = 0.3, 5.0, 30.0
_LINES = 12


class PtySession:
    """One program in one terminal."""

    def __init__(self, line: TerminalLine, options: UncheckedOptions, way: PromptQuoting, session: str = "") -> None:
        self._line = line
        self._way = way
        self._options = options
        self._ears = HeardQueue()
        self._in_turn = False
        self._is_first = True
        self._typing: asyncio.Task[None] | None = None
        self._ears.put(Opened(session=session))
        self._ending = asyncio.create_task(self._end(), name="end of a terminal program")

    def get_terminal(self) -> TerminalLine:
        """The terminal, for whoever attaches."""
        return self._line

    def listen(self) -> AsyncIterator[Heard]:
        return self._ears.listen()

    async def prompt(self, text: str) -> None:
        self._in_turn = True
        how = self._options.get("prompt", "type")
        first, self._is_first = self._is_first, False
        if how == "none" or (how == "argument" and first):
            return
        self._typing = asyncio.create_task(self._put(text, wait=first), name="prompt for a terminal program")

    async def _put(self, text: str, *, wait: bool) -> None:
        if wait and "ready" in self._options:
            await self._line.wait_for_pattern(str(self._options["ready"]), _READY_S)
        elif wait:
            await self._line.wait_until_quiet(_QUIET_S, _BEGIN_S)
        self._line.paste(text, self._way)

    async def steer(self, text: str) -> bool:
        self._line.paste(text, self._way)
        return True

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        return None  # such a program asks the person at its terminal

    async def finish(self) -> None:
        """The agent has said through the hub that it is done."""
        self._end_turn(TurnEnded(reason="done"))

    async def cancel(self) -> None:
        if self._in_turn:
            self._line.press(str(self._options.get("cancel_keys", "\x03")).encode())
            self._end_turn(TurnEnded(reason="cancelled"))

    async def close(self) -> None:
        await self._line.close()
        await self._ending

    def _end_turn(self, ended: TurnEnded) -> None:
        if self._in_turn:
            self._in_turn = False
            self._ears.put(ended)

    async def _end(self) -> None:
        code = await self._line.wait_for_exit()
        if self._typing is not None:
            self._typing.cancel()
            await asyncio.gather(self._typing, return_exceptions=True)
        words = "\n".join(self._line.last_words().rstrip().splitlines()[-_LINES:])
        if code == 0:
            self._end_turn(TurnEnded(reason="done"))
        else:
            error = build_sentence("run_error.program_ended", code=code, words=words)
            self._end_turn(TurnEnded(reason="failed", error=error))
        self._ears.put(Died(code=code, last_words=words))
        self._ears.end()
