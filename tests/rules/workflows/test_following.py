"""A run that somebody follows: on a terminal, in a pipe, over a restart of the hub, and when it waits for them."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO

import pytest

from greenroom.cli.terminal import measure_width, pad_text, truncate_text
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import environment
from tests.rules.workflows.plays import Play
from tests.rules.workflows.test_interrupted import at_work
from tests.stage import Stage

_ROWS, _COLUMNS = 14, 60


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
        started.wait(WAIT_S)
    return re.sub(r"\x1b\[[0-9]*[A-Z]", "", heard.decode()).splitlines()


def test_no_row_of_a_followed_run_is_wider_than_the_terminal(stage: Stage) -> None:
    play = Play(stage)
    long = "it cannot be done for a reason that is far too long for one row of this terminal"
    steps = [{"id": f"s{n}", "set": {"a": "1"}} for n in range(20)]
    failing = {"id": "a-step-with-a-rather-long-name-indeed", "prompt": f"FAIL {long}", "on_error": "ignore"}
    run, _ = play.done(failing, *steps, name="一个很长的工作流名称")
    rows = on_terminal(stage, "dag", "follow", run["id"])
    assert rows
    assert all(measure_width(row) < _COLUMNS for row in rows), rows
    assert len(rows) < _ROWS
    assert any("more steps" in row for row in rows)
    assert any("✗ a-step-with-a-rather-long-name-indeed" in row for row in rows), "what failed is shown before the rest"


def test_wide_characters_take_two_columns() -> None:
    assert measure_width("代码 ok") == 7
    assert truncate_text("代码审查", 5) == "代码…"
    assert truncate_text("short", 5) == "short"
    assert pad_text("代码", 6) == "代码  "


def begun(stage: Stage, file: Path, *how: str) -> "subprocess.Popen[str]":
    """`dag run` of a file, at work."""
    command = [sys.executable, "-m", "greenroom", "dag", "run", str(file), *how]
    return subprocess.Popen(
        command, env=environment(stage.hub.data), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def read_until(stream: IO[str], *words: str) -> None:
    """Read lines until all of the words were there."""
    told = ""
    while not all(word in told for word in words):
        line = stream.readline()
        assert line, told
        told += line


def newest(stage: Stage) -> str:
    """The run that was begun last."""
    return str(stage.until(lambda: stage.api.get("/api/workflow-runs").json(), "a run of a workflow")[0]["id"])


@pytest.mark.parametrize("how", ["--wait", "--follow"])
def test_who_waits_for_a_run_sees_its_end_though_the_hub_was_killed_meanwhile(
    stage: Stage, tmp_path: Path, how: str
) -> None:
    file = tmp_path / "slow.yaml"
    file.write_text(
        "name: slow\nsteps:\n"
        '  - {id: first, profile: rehearsal, prompt: "SLEEP 5\\nSAY one"}\n'
        "  - {id: second, profile: rehearsal, prompt: SAY two, dependencies: [first]}\n"
    )
    with begun(stage, file, how) as waiting:
        at_work(Play(stage), newest(stage), "first")
        stage.hub.kill()
        stage.hub.restart() if how == "--wait" else stage.hub.start()  # at the same address, and at another
        out, err = waiting.communicate(timeout=WAIT_S)
    assert waiting.returncode == 0, err
    with Stage(stage.hub) as after:
        run_id = newest(after)
        assert after.api.get(f"/api/workflow-runs/{run_id}").json()["run"]["status"] == "completed"
        assert len(after.api.get("/api/runs").json()) == 2, "no agent was started twice"
    assert [word for word in ("first", "second", "completed", "two") if word not in out] == []


def test_who_waits_for_a_run_is_told_that_it_waits_for_them(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "asks.yaml"
    file.write_text(
        "name: asks\nsteps:\n  - {id: look, profile: rehearsal, prompt: SHELL ls /}\n  - {id: gate, level: confirmed}\n"
    )
    with begun(stage, file, "--wait") as waiting, begun(stage, file, "--follow") as following:
        stage.until(lambda: len(stage.api.get("/api/asks").json()["asks"]) == 4, "four questions")
        assert waiting.stderr is not None and following.stdout is not None
        read_until(waiting.stderr, "gate needs a person: greenroom ask show ask_", "look waits: permission")
        read_until(
            following.stdout,
            "gate needs a person: greenroom ask show ask_",
            "waits: permission: shell: ls / (see `greenroom ask list`)",
        )
        for ask in stage.api.get("/api/asks").json()["asks"]:
            stage.decide(ask["id"], "approve")
        assert waiting.wait(WAIT_S) == 0
        following.communicate(timeout=WAIT_S)


def test_who_stops_waiting_is_told_how_to_see_the_run_again(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "parked.yaml"
    file.write_text("name: parked\nsteps:\n  - {id: hold, level: confirmed}\n")
    with begun(stage, file, "--wait") as waiting:
        assert waiting.stderr is not None
        assert "hold needs a person" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        _, err = waiting.communicate(timeout=WAIT_S)
    assert (waiting.returncode, f"greenroom dag follow {newest(stage)}" in err) == (130, True), err
