"""A real hub in a process of its own, for tests: started on a free port, killed or stopped at will."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

_READY = re.compile(r"ready at (\S+) .* (\S+/login\?code=(\S+))")
_START_S = 30
_STOP_S = 15


class HubProcess:
    """One hub. `url` and `token` (the operator's) are there once it has started."""

    def __init__(self, data: Path, env: Mapping[str, str] | None = None, args: tuple[str, ...] = ()) -> None:
        self.data = data
        self._env = {"GREENROOM_POSTS_PER_MINUTE": "0", **(env or {})}
        self._args = args
        self._process: subprocess.Popen[str] | None = None
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

    def start(self, port: int = 0) -> "HubProcess":
        """Start, and return when the hub says that it is ready."""
        command = [
            sys.executable,
            "-m",
            "greenroom",
            "serve",
            "--data",
            str(self.data),
            "--port",
            str(port),
            *self._args,
        ]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.data.parent), **self._env}
        with self.stderr_path.open("a") as stderr:
            self._process = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True
            )
        assert self._process.stdout is not None  # noqa: S101
        deadline = time.monotonic() + _START_S
        line = self._process.stdout.readline()
        match = _READY.search(line)
        if match is None or time.monotonic() > deadline:
            self.kill()
            raise RuntimeError(f"the hub did not start: {line!r} {self.stderr_path.read_text()[-2000:]}")
        self.url, self.login_code = match.group(1), match.group(3)
        return self

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """SIGKILL: what a crash is like."""
        return self._end(signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it ends by itself."""
        return self._end(None)

    def restart(self) -> "HubProcess":
        """Start again on the same data and the same port."""
        port = int(self.url.rpartition(":")[2])
        return self.start(port)

    def _end(self, how: signal.Signals | None) -> int:
        if self._process is None:
            return 0
        if how is not None and self._process.poll() is None:
            self._process.send_signal(how)
        code = self._process.wait(_STOP_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None
        return code

    def __enter__(self) -> "HubProcess":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
