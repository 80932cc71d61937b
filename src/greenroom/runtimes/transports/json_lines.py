"""JSON lines to and from a process until it ends: all in order, with answers matched to requests."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Protocol

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import Died, Process
from greenroom.runtimes.transports.heard_queue import HeardQueue

Told = Callable[[JsonObject], None]
_LINGER_S = 2.0
logger = logging.getLogger(__name__)


class Lines(Protocol):
    """Where the lines go and come from: a process's pipes, or a socket that it listens on."""

    async def read_line(self) -> bytes: ...

    async def write(self, data: bytes) -> None: ...


class JsonLines:
    """One process. `told` gets each message before the next is read; Died is the last."""

    def __init__(self, process: Process, told: Told, ears: HeardQueue, lines: Lines | None = None) -> None:
        self._process = process
        self._told = told
        self._ears = ears
        self._lines = lines or process
        self._open: dict[Hashable, asyncio.Future[JsonObject]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading = asyncio.create_task(self._read(), name=f"lines of {process.pid}")
        self._watching = asyncio.create_task(self._watch(), name=f"end of {process.pid}")

    async def send(self, message: JsonObject) -> None:
        """Send something. It is dropped if the process is gone: Died reports that."""
        with contextlib.suppress(ConnectionError):
            await self._lines.write(msgspec.json.encode(message) + b"\n")

    async def ask(self, id: Hashable, message: JsonObject) -> JsonObject:
        """Say something and wait until it is settled under this id. Raises ConnectionError when the process is gone."""
        if self._watching.done():
            raise ConnectionError("the process is gone")
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._open[id] = answer
        try:
            await self.send(message)
            return await answer
        finally:
            self._open.pop(id, None)

    def settle(self, id: Hashable, answer: JsonObject) -> None:
        """Pass an answer to its waiting request, if there is one."""
        waiting = self._open.get(id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Carry something out beside the reading, in the order of these calls up to its first wait."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the process and all below it; Died follows."""
        await self._process.end()
        await self._watching

    async def _read(self) -> None:
        while True:
            await self._ears.wait_for_room()
            line = await self._lines.read_line()
            if not line:
                return
            message = _parse_message(line)
            if message is None:
                continue
            try:
                self._told(message)
            except Exception:  # one message that cannot be understood must not make the session deaf
                logger.exception("could not make sense of %s", line[:500])

    async def _watch(self) -> None:
        """Wait for the end, which either sign alone is not: a child may hold the pipe, or the process closed it."""
        gone = asyncio.create_task(self._process.wait())
        await asyncio.wait({gone, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        self._ears.lift_limit()
        await asyncio.wait({gone, self._reading}, timeout=_LINGER_S, return_when=asyncio.ALL_COMPLETED)
        await self._process.end()
        code = await gone
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the process is gone"))
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ears.put(Died(code, self._process.last_words()))
        self._ears.end()


def _parse_message(line: bytes) -> JsonObject | None:
    """A line as a message. What a runtime prints besides is not for us."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if line.strip():
            logger.info("not a message: %s", line[:200])
        return None
    return message if isinstance(message, dict) else None
