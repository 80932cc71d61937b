"""Child processes that leave nothing behind: each in a session of its own, its whole tree found and ended.

A mark in the environment names the tree; where there is a writable cgroup the tree is held by that as well. This
program is a subreaper, so a child that hides by forking twice comes back to it.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import pty
import signal
import struct
import termios
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

from greenroom.log.ids import new_id

Waits = Callable[[], Awaitable[int]]
MARK = "GREENROOM_TREE"
_LINE = 64 * 1024 * 1024
_LAST_WORDS = 8192
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 100


def become_subreaper() -> None:
    """Orphans below this process come to it and not to init."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def find_tree(mark: str, root: int | None = None) -> list[int]:
    """Every process that bears the mark or descends from the root; zombies do not count."""
    parents: dict[int, int] = {}
    marked: set[int] = {root} if root else set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if stat[0] in "ZX":
                continue
            parents[pid] = int(stat[1])
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                marked.add(pid)
        except (OSError, IndexError):
            continue
    found = set(marked)
    grew = True
    while grew:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        grew = bool(more)
        found |= more
    return [pid for pid in found if pid in parents and pid != os.getpid()]


def end_marked(mark: str, root: int | None = None) -> None:
    """Kill a tree until nothing of it is left."""
    for _ in range(_ROUNDS):
        found = find_tree(mark, root)
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reap_orphans(found)


def reap_orphans(pids: list[int]) -> None:
    """Collect children that were adopted; those that somebody waits for are left to them."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


class Child:
    """A process with pipes."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str) -> None:
        self._process = process
        self._mark = mark
        self.pid = process.pid
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._draining = asyncio.create_task(self._drain(), name=f"stderr of {process.pid}")

    async def _drain(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 opened as a pipe
        while piece := await self._process.stderr.read(65536):
            self._stderr.append(piece)
            self._stderr_size += len(piece)
            while self._stderr_size - len(self._stderr[0]) > _LAST_WORDS:
                self._stderr_size -= len(self._stderr.popleft())

    async def read(self, most: int = 65536) -> bytes:
        assert self._process.stdout is not None  # noqa: S101
        return await self._process.stdout.read(most)

    async def read_line(self) -> bytes:
        assert self._process.stdout is not None  # noqa: S101
        try:
            return await self._process.stdout.readline()
        except ValueError:
            return b""  # a line beyond the limit: the process is not worth listening to any more

    async def write(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    def close_stdin(self) -> None:
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.close()

    async def wait(self) -> int:
        return await self._process.wait()

    async def end(self, grace_s: float = 2.0) -> None:
        await end_tree(self.pid, self._mark, self._process.wait, grace_s)
        await self._process.wait()
        await self._draining

    def last_words(self) -> str:
        return b"".join(self._stderr)[-_LAST_WORDS:].decode("utf-8", "replace")


class ChildTerminal:
    """A process in a terminal of its own."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str, master: int) -> None:
        self._process = process
        self._mark = mark
        self._master = master
        self.pid = process.pid
        self._loop = asyncio.get_running_loop()

    async def read(self) -> bytes:
        if self._master < 0:
            return b""
        ready: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._master, _set, ready)
        try:
            await ready
            return os.read(self._master, 65536)
        except OSError:  # EIO is how Linux says that the last writer is gone
            return b""
        finally:
            self._loop.remove_reader(self._master)

    async def write(self, data: bytes) -> None:
        if self._master >= 0:
            await self._loop.run_in_executor(None, os.write, self._master, data)

    def resize(self, rows: int, columns: int) -> None:
        if self._master >= 0:
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def wait(self) -> int:
        return await self._process.wait()

    async def end(self, grace_s: float = 2.0) -> None:
        await end_tree(self.pid, self._mark, self._process.wait, grace_s)
        await self._process.wait()
        if self._master >= 0:
            master, self._master = self._master, -1
            os.close(master)


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


async def end_tree(pid: int, mark: str, wait: Waits, grace_s: float) -> None:
    """Ask a process group to end, give it a moment, then end all that is left of its tree."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(grace_s):
            await wait()
    await asyncio.get_running_loop().run_in_executor(None, end_marked, mark, pid)


class Spawner:
    """Starts children for drivers."""

    def __init__(self, mark: str | None = None) -> None:
        self.mark = mark or new_id("tree")

    async def spawn(self, command: list[str], directory: Path, env: dict[str, str]) -> Child:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env={**env, MARK: self.mark},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        return Child(process, self.mark)

    async def spawn_terminal(
        self, command: list[str], directory: Path, env: dict[str, str], rows: int, columns: int
    ) -> ChildTerminal:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.set_blocking(master, False)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=directory,
                env={"TERM": "xterm-256color", **env, MARK: self.mark},
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                preexec_fn=_own_terminal,
            )
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        return ChildTerminal(process, self.mark, master)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _own_terminal() -> None:
    _die_with_parent()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
