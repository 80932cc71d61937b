"""A screen without a monitor, for programs that need real windows, a mouse and keys."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S


@contextmanager
def open_screen(size: str = "1400x900x24") -> Iterator[str]:
    """An X server, by the name that programs find it by; xdotool moves its mouse and presses its keys."""
    need_program("xdotool")
    need_program("xterm")
    read, write = os.pipe()
    command = [need_program("Xvfb"), "-displayfd", str(write), "-screen", "0", size]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as told:
            number = told.readline().strip()
        assert number, "the X server did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(WAIT_S)
