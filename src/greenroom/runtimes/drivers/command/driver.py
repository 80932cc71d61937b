"""Runs an operator's command for a prompt: an argument vector, never a shell line.

Options of a profile: `prompt` is "argument" (the command has `{prompt}`, the default) or "stdin"; `timeout_s` ends it.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator

from greenroom.json_types import ToolArguments
from greenroom.runtimes.contract import (
    Decision,
    Died,
    Heard,
    InstalledRuntime,
    Opened,
    Process,
    Said,
    SessionOptions,
    Spawner,
    TurnEnded,
)
from greenroom.runtimes.driver_list import choose_quoting
from greenroom.runtimes.hub_variables import build_hub_variables
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.prompt_text import PromptQuoting
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.sentences import build_sentence

_WORDS = 2000
_LAST_S = 1.0
_PROMPTS = ("argument", "stdin")


class CommandDriver:
    """Drives any command."""

    name = "command"

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        return InstalledRuntime("1", "")

    async def open(self, opening: SessionOptions, spawner: Spawner) -> "CommandSession":
        if not opening.command:
            raise LaunchError("launch.command_missing")
        how, timeout_s = opening.options.get("prompt", "argument"), opening.options.get("timeout_s")
        if how not in _PROMPTS:
            raise LaunchError("launch.bad_prompt_option", choices=_PROMPTS)
        if timeout_s is not None and not (isinstance(timeout_s, int | float) and timeout_s > 0):
            raise LaunchError("launch.bad_timeout")
        way = choose_quoting(self.name, opening.command, opening.options)
        env = {**opening.env, **build_hub_variables(opening), **way.env}
        process = await spawner.spawn(opening.command, opening.directory, env)
        if how == "argument":
            process.close_stdin()
        return CommandSession(process, way, how == "stdin", timeout_s)


class CommandSession:
    """One run of the command, which is one turn."""

    def __init__(self, process: Process, way: PromptQuoting, takes_stdin: bool, timeout_s: float | None) -> None:
        self._process = process
        self._way = way
        self._takes_stdin = takes_stdin
        self._timeout_s = timeout_s
        self._ears = HeardQueue()
        self._ended: TurnEnded | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._ears.put(Opened(session=""))
        self._listening = asyncio.create_task(self._listen(), name=f"command {process.pid}")

    def listen(self) -> AsyncIterator[Heard]:
        return self._ears.listen()

    async def prompt(self, text: str) -> None:
        if self._takes_stdin:
            self._feeding = asyncio.create_task(self._feed(text), name=f"stdin of {self._process.pid}")

    async def _feed(self, text: str) -> None:
        try:
            await self._process.write(self._way.quote(text).encode())
        except OSError:
            return  # it did not want to read it all
        self._process.close_stdin()

    async def steer(self, text: str) -> bool:
        return False

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        return None  # a command asks nothing

    async def cancel(self) -> None:
        await self._stop(TurnEnded(reason="cancelled"))

    async def close(self) -> None:
        await self._stop(TurnEnded(reason="cancelled"))
        await self._listening

    async def _stop(self, ended: TurnEnded) -> None:
        self._ended = self._ended or ended
        await self._process.end()

    async def _listen(self) -> None:
        reading = asyncio.create_task(self._read(), name=f"stdout of {self._process.pid}")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._process.wait()
                await asyncio.wait([reading], timeout=_LAST_S)  # a grandchild may hold the pipe open
        except TimeoutError:
            sentence = build_sentence("run_error.command_timeout", seconds=f"{self._timeout_s:g}")
            self._ended = self._ended or TurnEnded(reason="failed", error=sentence)
        await self._process.end(0)  # and all that it left behind
        code = await self._process.wait()
        await asyncio.wait([reading], timeout=_LAST_S)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        if self._feeding is not None:
            self._feeding.cancel()
            await asyncio.gather(self._feeding, return_exceptions=True)
        words = self._process.last_words().strip()[-_WORDS:]
        self._ears.put(self._ended or _build_turn_end(code, words), Died(code=code, last_words=words))
        self._ears.end()

    async def _read(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while piece := await self._process.read():
            self._ears.put(Said(text=decode(piece)))
            await self._ears.wait_for_room()


def _build_turn_end(code: int, words: str) -> TurnEnded:
    if code == 0:
        return TurnEnded(reason="done")
    if not words:
        return TurnEnded(reason="failed", error=build_sentence("run_error.command_ended", code=code))
    return TurnEnded(reason="failed", error=build_sentence("run_error.command_ended_saying", code=code, words=words))
