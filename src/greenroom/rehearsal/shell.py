"""Runs a line of shell for the agent."""

import os
import signal
import subprocess
import threading
from pathlib import Path

_LOOK_S = 0.05


def run(command: str, directory: Path, cancelled: threading.Event) -> tuple[str, int]:
    """Run a line of shell; a cancel ends it and what it started. What it wrote, and its exit code."""
    with subprocess.Popen(  # noqa: S602 it is a shell's line, and somebody has allowed it
        command,
        shell=True,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
    ) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=_LOOK_S)
                return output.decode(errors="replace"), process.returncode
            except subprocess.TimeoutExpired:
                if cancelled.is_set():
                    os.killpg(process.pid, signal.SIGKILL)
