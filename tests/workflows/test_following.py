"""A run on a terminal: no row is wider than it is, so that the table can be drawn over itself."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from greenroom.cli.terminal import cut, padded, width
from tests.cli.shell import environment
from tests.runs.stage import Stage
from tests.workflows.plays import Play

_ROWS, _COLUMNS = 14, 60
_LIMIT_S = 90


def on_terminal(stage: Stage, *words: str) -> list[str]:
    """What a verb writes on a terminal of a fixed size, row by row, without what moves the cursor."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    argv, env = [sys.executable, "-m", "greenroom", *words], environment(stage.hub.data)
    started = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=env)
    os.close(theirs)
    heard = b""
    try:
        while piece := os.read(ours, 65536):
            heard += piece
    except OSError:
        pass  # the other end of a terminal that is closed
    finally:
        os.close(ours)
        started.wait(_LIMIT_S)
    return re.sub(r"\x1b\[[0-9]*[A-Z]", "", heard.decode()).splitlines()


def test_no_row_of_a_followed_run_is_wider_than_the_terminal(stage: Stage) -> None:
    play = Play(stage)
    long = "it cannot be done for a reason that is far too long for one row of this terminal"
    steps = [{"id": f"s{n}", "set": {"a": "1"}} for n in range(20)]
    failing = {"id": "a-step-with-a-rather-long-name-indeed", "prompt": f"FAIL {long}", "on_error": "ignore"}
    run, _ = play.done(failing, *steps, name="一个很长的工作流名称")
    rows = on_terminal(stage, "dag", "follow", run["id"])
    assert rows
    assert all(width(row) < _COLUMNS for row in rows), rows
    assert len(rows) < _ROWS
    assert any("more steps" in row for row in rows)
    assert any("✗ a-step-with-a-rather-long-name-indeed" in row for row in rows), "what failed is shown before the rest"


def test_wide_characters_take_two_columns() -> None:
    assert width("代码 ok") == 7
    assert cut("代码审查", 5) == "代码…"
    assert cut("short", 5) == "short"
    assert padded("代码", 6) == "代码  "
