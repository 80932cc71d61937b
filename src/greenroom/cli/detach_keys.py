"""Ctrl-B D for commands that follow an agent's output: it detaches as at a terminal."""

import contextlib
import os
import select
import termios
import time
import tty
from collections.abc import Iterator

from greenroom.cli.attached_terminal import PREFIX_KEY


class DetachKeys:
    """The keys that a person presses while they read."""

    def __init__(self) -> None:
        self._prefixed = False

    def is_detach_pressed(self, within_s: float) -> bool:
        """Whether the person leaves within a time, or their terminal goes."""
        deadline = time.monotonic() + within_s
        while (left_s := deadline - time.monotonic()) > 0:
            if not select.select([0], [], [], left_s)[0]:
                return False
            data = os.read(0, 4096)
            if not data:
                return True
            for key in data:
                if self._prefixed and key in b"dD":
                    return True
                self._prefixed = key == PREFIX_KEY
        return False


@contextlib.contextmanager
def watch_detach_keys() -> Iterator[DetachKeys]:
    """Read keys as they are pressed, without echo; Ctrl-C still interrupts. Afterwards the terminal is restored."""
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        yield DetachKeys()
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)
