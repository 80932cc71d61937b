"""Tables on a terminal that is too narrow for them: no line is longer than it, and nothing is left out
but the letters of ids that need not be typed."""

import fcntl
import os
import struct
import subprocess
import sys
import termios

import pytest

from greenroom.cli.terminal import format_size
from greenroom.testing.timeouts import WAIT_S


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (5 << 20, "5.0 MiB"),
        (3 << 30, "3.0 GiB"),
        (2 << 50, "2048.0 TiB"),
    ],
)
def test_a_size_is_told_in_powers_of_1024(count: int, said: str) -> None:
    assert format_size(count) == said


PROGRAM = """
from greenroom.cli.terminal import show_table
show_table([("wfr_" + "0" * 26, "release", "running", "2026-11-16 13:38", "0.5 s", "by hand")],
           ("run", "workflow", "status", "began", "time", "trigger"))
"""


def shown(wide: int) -> list[str]:
    """What stands on a terminal of that width."""
    ours, theirs = os.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, wide, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        env["NO_COLOR"] = "1"
        subprocess.run([sys.executable, "-c", PROGRAM], stdout=theirs, env=env, check=True, timeout=WAIT_S)
        return os.read(ours, 4096).decode().splitlines()
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("wide", [200, 80, 60, 40])
def test_no_line_is_longer_than_the_terminal_and_no_cell_is_left_out(wide: int) -> None:
    lines = shown(wide)
    assert max(map(len, lines)) <= wide, lines
    assert " ".join(" ".join(lines).split()) == (
        f"RUN WORKFLOW STATUS BEGAN TIME TRIGGER wfr_{'0' * 6} release running 2026-11-16 13:38 0.5 s by hand"
    )
