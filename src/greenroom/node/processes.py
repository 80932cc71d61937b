"""Child processes for drivers: each in its own session, with pipes or a terminal; its whole tree ends with it."""

import asyncio
import contextlib
import fcntl
import os
import pty
import shutil
import signal
import struct
import termios
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

from greenroom.ids import new_id
from greenroom.node.sandbox import Sandbox
from greenroom.node.tree_ender import end_tree_soon
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.process_trees import MARK, die_with_parent, open_cgroup, reap_adopted
from greenroom.runtimes.process_trees import find_tree as find_tree

Waits = Callable[[], Awaitable[int]]
_LINE = 64 * 1024 * 1024
_LAST_WORDS = 8192
_OUTPUT_S = 5.0
_ours: set[int] = set()
_being_born = 0


def reap() -> None:
    """Reap ended processes that nobody waits for; to be called every second or so."""
    if not _being_born:
        reap_adopted(_ours)


def need_program(name: str, path: str, directory: Path) -> str:
    """Where a program is. It is never looked for in the agent's own directory, in which the agent can write."""
    if "/" in name:
        if not name.startswith("/"):
            raise LaunchError("launch.relative_program", program=name)
        return name
    own = directory.resolve()
    folders = [f for f in path.split(os.pathsep) if f.startswith("/") and not Path(f).resolve().is_relative_to(own)]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if found is None:
        raise LaunchError("launch.no_program", program=name)
    return found


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
        return await wait_for_exit(self._process)

    async def end(self, grace_s: float = 2.0) -> None:
        await end_child(self.pid, self._mark, self.wait, grace_s)
        with contextlib.suppress(TimeoutError):  # something outside the tree may hold the pipe
            async with asyncio.timeout(_OUTPUT_S):
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
        """Keys for it, all of them; waits while the program does not read."""
        while data and self._master >= 0:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                await self._wait_until_writable()
            except OSError:  # the other end is closed
                return

    async def _wait_until_writable(self) -> None:
        ready: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_writer(self._master, _set, ready)
        try:
            await ready
        finally:
            self._loop.remove_writer(self._master)

    def resize(self, rows: int, columns: int) -> None:
        if self._master >= 0:
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def wait(self) -> int:
        return await wait_for_exit(self._process)

    async def end(self, grace_s: float = 2.0) -> None:
        await end_child(self.pid, self._mark, self.wait, grace_s)
        await self._process.wait()
        if self._master >= 0:
            master, self._master = self._master, -1
            os.close(master)


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


async def wait_for_exit(process: asyncio.subprocess.Process) -> int:
    """The exit code of a process. asyncio's own wait lasts for as long as anything holds one of its pipes."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(ProcessLookupError):  # it is collected already
        handle = os.pidfd_open(process.pid)
        over: asyncio.Future[None] = loop.create_future()
        loop.add_reader(handle, _set, over)
        try:
            await over
        finally:
            loop.remove_reader(handle)
            os.close(handle)
    while process.returncode is None:  # noqa: ASYNC110 asyncio is about to collect it
        await asyncio.sleep(0.005)
    return process.returncode


async def end_child(pid: int, mark: str, wait: Waits, grace_s: float) -> None:
    """Ask a process group to end, give it a moment, then end all that is left of its tree."""
    if pid in _ours:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await wait()
    await end_tree_soon(mark, pid)


class ProcessSpawner:
    """Starts children for drivers, all of one tree."""

    def __init__(self, mark: str | None = None, sandbox: Sandbox | None = None) -> None:
        self.mark = mark or new_id("tree")
        self.sandbox = sandbox

    async def _start(
        self,
        command: list[str],
        directory: Path,
        env: dict[str, str],
        pipe: int,
        first: Callable[[], None] | None = None,
    ) -> asyncio.subprocess.Process:
        """Start a program that is found on the PATH: in its tree, alone with its three files, and not to outlive us."""
        global _being_born
        path = env.get("PATH", os.defpath)
        command = [need_program(command[0], path, directory), *command[1:]]
        if self.sandbox is not None:
            command = await asyncio.to_thread(self.sandbox.wrap, command, directory, path)
        cgroup = open_cgroup(self.mark)

        def prepare() -> None:
            die_with_parent()
            if cgroup is not None:
                os.write(cgroup, b"0")
            if first is not None:
                first()

        _being_born += 1
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=directory,
                env={**env, MARK: self.mark},
                limit=_LINE,
                start_new_session=True,
                preexec_fn=prepare,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
            )
            _ours.add(process.pid)
        finally:
            _being_born -= 1
            if cgroup is not None:
                os.close(cgroup)
        waiting = asyncio.create_task(_forget(process), name=f"end of {process.pid}")
        _waiting.add(waiting)
        waiting.add_done_callback(_waiting.discard)
        return process

    async def spawn(self, command: list[str], directory: Path, env: dict[str, str]) -> Child:
        return Child(await self._start(command, directory, env, asyncio.subprocess.PIPE), self.mark)

    async def spawn_terminal(
        self, command: list[str], directory: Path, env: dict[str, str], rows: int, columns: int
    ) -> ChildTerminal:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.set_blocking(master, False)
        try:
            env = {"TERM": "xterm-256color", **env}
            process = await self._start(command, directory, env, slave, _take_terminal)
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        return ChildTerminal(process, self.mark, master)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


_waiting: set[asyncio.Task[None]] = set()


async def _forget(process: asyncio.subprocess.Process) -> None:
    await process.wait()
    _ours.discard(process.pid)
