"""Reads and writes lines on this process's pipes, in one thread each, so that a full pipe never blocks the rest.

Threads and not the event loop's own pipes, because those change the descriptors for whoever shares them, and because
a daemon thread that hangs in a read or a write does not keep the process from ending.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from types import TracebackType

import anyio

MAX_LINE_BYTES = 16_777_216
_CHUNK_BYTES = 65_536
_QUEUE = 64
_FLUSH_S = 0.3
_CLOSED = (
    anyio.EndOfStream,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    CancelledError,
    RuntimeError,
    OSError,
)


class Pipe:
    """Reads lines from one descriptor and writes them to another, as long as it is entered."""

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target
        self._in, self.lines = anyio.create_memory_object_stream[bytes](_QUEUE)
        self._out, self._unwritten = anyio.create_memory_object_stream[bytes](_QUEUE)
        self.ended = anyio.Event()
        """Set when no more will come in, or nothing can go out."""
        self._written = anyio.Event()

    async def __aenter__(self) -> "Pipe":
        self._loop = asyncio.get_running_loop()
        for work in (self._read_all, self._write_all):
            threading.Thread(target=work, daemon=True).start()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._out.close()
        with anyio.move_on_after(_FLUSH_S, shield=True):
            await self._written.wait()
        for stream in (self._in, self.lines, self._unwritten):
            stream.close()

    async def write(self, line: bytes) -> None:
        """Write a line; does nothing when nobody reads any more."""
        with suppress(anyio.BrokenResourceError):
            await self._out.send(line + b"\n")

    def _read_all(self) -> None:
        rest = b""
        is_dropping = False
        with suppress(*_CLOSED):
            while chunk := os.read(self._source, _CHUNK_BYTES):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if not is_dropping:
                        self._hand_in(line)
                    is_dropping = False
                if len(rest) > MAX_LINE_BYTES:
                    print(f"a line is longer than {MAX_LINE_BYTES} bytes and is dropped", file=sys.stderr)
                    is_dropping = True
                if is_dropping:
                    rest = b""
            self._hand_in(rest)
        self._call_in_loop(self._in.close)
        self._call_in_loop(self.ended.set)

    def _hand_in(self, line: bytes) -> None:
        if line.strip():
            asyncio.run_coroutine_threadsafe(self._in.send(line), self._loop).result()

    def _write_all(self) -> None:
        with suppress(*_CLOSED):
            while True:
                line = memoryview(asyncio.run_coroutine_threadsafe(self._unwritten.receive(), self._loop).result())
                while line:
                    line = line[os.write(self._target, line) :]
        self._call_in_loop(self._unwritten.close)
        self._call_in_loop(self._written.set)
        self._call_in_loop(self.ended.set)

    def _call_in_loop(self, what: Callable[[], object]) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)
