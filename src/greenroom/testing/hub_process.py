"""A real hub as a process, for tests: started on a free port, killed or stopped by the test."""

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from greenroom.testing.timeouts import WAIT_S

_READY = re.compile(r"ready at (\S+) .* (\S+/login\?code=(\S+))")
_DEFAULTS = {"GREENROOM_POSTS_PER_MINUTE": "0", "GREENROOM_LOCAL_NODE": "0"}


class HubEnded(Exception):
    """The hub ended, or was ended, before it was ready."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(f"the hub did not start (exit {code}): {said[-2000:]}")
        self.code = code


class HubProcess:
    """One hub. `url` and `token` (the operator's) are there once it has started.

    `prefix` is a command that runs the hub, such as one that lowers a limit first; `python` is the interpreter.
    """

    def __init__(
        self,
        data: Path,
        env: Mapping[str, str] | None = None,
        args: Sequence[str] = (),
        prefix: Sequence[str] = (),
        python: str = sys.executable,
    ) -> None:
        self.data = data
        self.env = {**_DEFAULTS, **(env or {})}
        self._args = args
        self._prefix = prefix
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.login_code = ""
        self.stderr_path = data.parent / f"{data.name}.stderr"

    @property
    def token(self) -> str:
        """The operator's token."""
        return (self.data / "operator.token").read_text().strip()

    @property
    def pid(self) -> int:
        assert self._process is not None  # noqa: S101
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def stderr(self) -> str:
        """All that the hub has complained of so far, over all its starts."""
        return self.stderr_path.read_text(errors="replace")

    def start(self, port: int = 0) -> "HubProcess":
        """Start, and return when the hub says that it is ready."""
        line = self._launch(port)
        match = _READY.search(line)
        if match is None:
            raise HubEnded(self.kill(), f"{line}{self.stderr}")
        self.url, self.login_code = match.group(1), match.group(3)
        return self

    def start_refused(self, port: int = 0) -> tuple[int, str]:
        """Start a hub that will not start; its exit code and what it says about it."""
        told = len(self.stderr) if self.stderr_path.exists() else 0
        line = self._launch(port)
        if line:
            self.kill()
            raise RuntimeError(f"the hub did start: {line!r}")
        return self.wait(), self.stderr[told:]

    def _launch(self, port: int) -> str:
        serve = ["-m", "greenroom", "serve", "--data", str(self.data), "--port", str(port)]
        inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        environment = {**inherited, "HOME": str(self.data.parent), **self.env}
        with self.stderr_path.open("ab") as stderr:
            self._process = subprocess.Popen(
                [*self._prefix, self._python, *serve, *self._args],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        return self._read_first_line()

    def _read_first_line(self) -> str:
        assert self._process is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        line = b""
        deadline = time.monotonic() + WAIT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n") and selector.select(max(0.0, deadline - time.monotonic())):
                part = os.read(self._process.stdout.fileno(), 4096)
                if not part:
                    break
                line += part
        return line.decode()

    def send_signal(self, number: signal.Signals) -> None:
        """A signal to the hub."""
        os.kill(self.pid, number)

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """SIGKILL: what a crash is like."""
        return self._end(signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it ends by itself."""
        return self._end(None)

    def restart(self, env: Mapping[str, str] | None = None) -> "HubProcess":
        """Start again on the same data and the same port, with other settings if they are given."""
        if env is not None:
            self.env = {**_DEFAULTS, **env}
        return self.start(self.port)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _end(self, how: signal.Signals | None) -> int:
        if self._process is None:
            return 0
        if how is not None and self._process.poll() is None:
            self._process.send_signal(how)
        code = self._process.wait(WAIT_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None
        return code

    def __enter__(self) -> "HubProcess":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def wait_until(what: Callable[[], object]) -> None:
    """Return as soon as it is so; fail if it is not so in time."""
    deadline = time.monotonic() + WAIT_S
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so within {WAIT_S} s")
        time.sleep(0.02)
