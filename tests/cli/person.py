"""Somebody at a terminal: what stands on it, what they type, and how the command ends."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import environment

_MARKS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x07")


class Person:
    """A person who runs `greenroom`, or another program, on a terminal of their own."""

    def __init__(self, data: Path, *args: str, wide: int = 120, program: Sequence[str] = (), **env: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, wide, 0, 0))
        self._process = subprocess.Popen(
            [*(program or (sys.executable, "-m", "greenroom")), *args],
            env=environment(data, TERM="xterm", **env),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._heard = b""
        self._seen = 0

    def __enter__(self) -> "Person":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)

    @property
    def raw(self) -> str:
        """All that was written so far, with its colours."""
        return self._heard.decode(errors="replace")

    @property
    def screen(self) -> str:
        """All that was written so far, as text."""
        return _MARKS.sub("", self.raw)

    def sees(self, text: str) -> str:
        """Wait until this is written after what was seen before; everything since then."""
        deadline = time.monotonic() + WAIT_S
        while (at := self.screen.find(text, self._seen)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} is not on the terminal: {self.screen!r}")
        before, self._seen = self._seen, at + len(text)
        return self.screen[before : self._seen]

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def types_on(self, letters: str, gap_s: float) -> float:
        """Type letter by letter, as people do, and read along; the longest time between two of them."""
        longest, last = 0.0, time.monotonic()
        for letter in letters:
            while (left := last + gap_s - time.monotonic()) > 0 and select.select([self._ours], [], [], left)[0]:
                self._read(last + gap_s)
            self.types(letter)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest

    def ends(self) -> int:
        """Wait until the command has ended; its exit code."""
        deadline = time.monotonic() + WAIT_S
        while self._read(deadline):
            pass
        return self._process.wait(WAIT_S)

    def _read(self, deadline: float) -> bool:
        """Take in more of what is written; False when the command has ended or the time is over."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # the other end is closed
            return False
        self._heard += piece
        return bool(piece)


def shown(data: Path, *args: str, wide: int = 120, **env: str) -> Person:
    """A command that has ended well on a terminal."""
    with Person(data, *args, wide=wide, **env) as person:
        code = person.ends()
        assert code == 0, person.screen
        return person
