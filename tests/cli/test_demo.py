"""The demonstration: a room full of work within a minute, and nothing left of it."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from greenroom.testing.timeouts import WAIT_S


def start(folder: Path, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "greenroom", "demo", "--no-open", *args],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_who_stops_the_demonstration_before_it_is_ready_is_told_of_no_failure(tmp_path: Path) -> None:
    demo = start(tmp_path)
    try:
        assert demo.stdout is not None
        assert demo.stdout.readline().startswith("  ")
    finally:
        demo.send_signal(signal.SIGINT)
        _, complained = demo.communicate(timeout=WAIT_S)
    assert (demo.returncode, complained) == (0, "")
    assert not list(tmp_path.glob("greenroom-demo-*"))


def test_the_demonstration_fills_a_room_and_leaves_nothing_behind(tmp_path: Path) -> None:
    demo = start(tmp_path)
    try:
        assert demo.stdout is not None
        said = ""
        while "ready at" not in said:
            line = demo.stdout.readline()
            assert line, said
            said += line
        assert re.search(r"log in once at http://127\.0\.0\.1:\d+/login\?code=\S+", said)
        assert "nothing of it is kept" in said + demo.stdout.readline()
        (data,) = tmp_path.glob("greenroom-demo-*")
        listed = subprocess.run(
            [sys.executable, "-m", "greenroom", "ask", "list", "--data", str(data)], capture_output=True, text=True
        )
        assert "make test" in listed.stdout, listed
    finally:
        demo.send_signal(signal.SIGINT)
        _, complained = demo.communicate(timeout=WAIT_S)
    assert (demo.returncode, complained) == (0, "")
    assert not list(tmp_path.glob("greenroom-demo-*"))
    left = [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])]
    assert not left, left


def test_the_demonstration_keeps_its_data_where_you_say(tmp_path: Path) -> None:
    data = tmp_path / "kept"
    demo = start(tmp_path, "--data", str(data))
    try:
        assert demo.stdout is not None
        assert any(f"Stop it with Ctrl-C; its data stays in {data}." in line for line in demo.stdout)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=WAIT_S)
    assert (demo.returncode, (data / "greenroom.db").exists()) == (0, True)
