"""A spawner that remembers every process, so that a check finds what is left over and what strangers can see."""

import asyncio
import contextlib
from pathlib import Path

from greenroom.runtimes.contract import Process, Spawner, Terminal

_ZOMBIE = ("Z", "X")
_LISTENS = "0A"
_KNOCK_S = 5.0


class TrackingSpawner:
    """Starts processes through another spawner and keeps an eye on them and all below them."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._started: list[int] = []
        self._seen: dict[int, str] = {}

    async def spawn(self, command: list[str], directory: Path, env: dict[str, str]) -> Process:
        process = await self._spawner.spawn(command, directory, env)
        self._started.append(process.pid)
        return process

    async def spawn_terminal(
        self, command: list[str], directory: Path, env: dict[str, str], rows: int, columns: int
    ) -> Terminal:
        terminal = await self._spawner.spawn_terminal(command, directory, env, rows, columns)
        self._started.append(terminal.pid)
        return terminal

    @property
    def last_pid(self) -> int:
        """The process that was started last."""
        return self._started[-1]

    def record_processes(self) -> None:
        """Remember which processes exist at the moment."""
        found = _read_processes()
        wanted = {pid for pid, process in found.items() if pid in self._started or process.session in self._started}
        grew = True
        while grew:
            more = {pid for pid, process in found.items() if process.parent in wanted and pid not in wanted}
            wanted |= more
            grew = bool(more)
        self._seen |= {pid: found[pid].began for pid in wanted}

    def find_left(self) -> list[str]:
        """Those that were seen, or belong to a session that was started, and are still there."""
        left = [
            (pid, _read_arguments(pid))
            for pid, process in _read_processes().items()
            if process.session in self._started or self._seen.get(pid) == process.began
        ]
        return [f"{pid} ({arguments[:80]})" for pid, arguments in left if arguments]  # without any it is just ending

    def find_in_arguments(self, text: str) -> list[int]:
        """The processes whose arguments have this text in them."""
        self.record_processes()
        return [pid for pid in self._seen if text in _read_arguments(pid)]

    async def find_open_ports(self) -> list[int]:
        """The ports of these processes on which anybody is served."""
        self.record_processes()
        return [port for port in _find_listening_ports(self._seen) if await _is_serving(port)]


class _ProcessStat:
    def __init__(self, stat: list[str]) -> None:
        self.parent, self.session, self.began = int(stat[1]), int(stat[3]), stat[19]


def _read_processes() -> dict[int, _ProcessStat]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):  # it has just ended
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                if stat[0] not in _ZOMBIE:
                    found[int(entry.name)] = _ProcessStat(stat)
    return found


def _read_arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _find_listening_ports(pids: dict[int, str]) -> list[int]:
    """The loopback ports on which processes listen."""
    sockets = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(str(handle.readlink()).removeprefix("socket:[").rstrip("]"))
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS and fields[9] in sockets:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return sorted(ports)


async def _is_serving(port: int) -> bool:
    """Whether a stranger's HTTP request gets an answer."""
    try:
        async with asyncio.timeout(_KNOCK_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return b" 2" in (await reader.readline())[:12]
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


def find_files_with(directory: Path, text: str) -> list[str]:
    """The files in a directory that have this text in them."""
    found = []
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(str(path))
    return found
