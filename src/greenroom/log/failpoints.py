"""Named places where a test can make the program die, to prove that nothing is lost."""

import os
import signal

_armed: dict[str, int] = {}


def arm(spec: str | None) -> None:
    """Arm places by a text such as `log.committed:3`: kill this process at the third passage."""
    _armed.clear()
    for part in (spec or "").split(","):
        name, _, nth = part.strip().partition(":")
        if name:
            _armed[name] = int(nth or 1)


def failpoint(name: str) -> None:
    """A place where a test can make the process die; it costs nothing when no failpoint is armed."""
    if _armed and name in _armed:
        _armed[name] -= 1
        if _armed[name] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
