"""Runs a line of shell for the agent."""

import os
import signal
import subprocess
import threading
from pathlib import Path

_LOOK_S = 0.05
_NOTED = '/bin/sh -c "$1" >"$2" 2>&1; echo $? >"$3"'
"""The shell itself writes down how the command ended, so that this outlives the agent's process."""


def run_command(command: str, directory: Path, cancelled: threading.Event, output: Path, code: Path) -> tuple[str, int]:
    """Run a line of shell; a cancel ends it and what it started. What it wrote, and its exit code.

    A command whose end is in the file `code` already has run, and is not run again.
    """
    if not _has_ended(code):
        output.touch()
        _run_process(["/bin/sh", "-c", _NOTED, "sh", command, str(output), str(code)], directory, cancelled)
    return output.read_text(errors="replace"), int(code.read_text()) if _has_ended(code) else -signal.SIGKILL


def _has_ended(code: Path) -> bool:
    return code.exists() and code.read_text().endswith("\n")


def _run_process(arguments: list[str], directory: Path, cancelled: threading.Event) -> None:
    with subprocess.Popen(arguments, cwd=directory, stdin=subprocess.DEVNULL, process_group=0) as process:
        while True:
            try:
                process.wait(_LOOK_S)
                return
            except subprocess.TimeoutExpired:
                if cancelled.is_set():
                    os.killpg(process.pid, signal.SIGKILL)
