"""Identifies the processes of a data directory, the hub and its node, without doubt, and ends them."""

import contextlib
import os
import select
import signal
from pathlib import Path


def is_holder(pid: int, lock: Path) -> bool:
    """Whether a process owns a lock: it keeps the file open for as long as it lives.

    The number in a file may be that of a program which ended long ago, and belong to another one by now.
    """
    with contextlib.suppress(OSError):
        wanted = lock.stat()
        with os.scandir(f"/proc/{pid}/fd") as files:
            for one in files:
                with contextlib.suppress(OSError):
                    found = one.stat()
                    if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                        return True
    return False


def end_process(pid: int, lock: Path, within_s: float) -> bool:
    """Ask the owner of a lock to end, and wait; whether it has ended in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if not is_holder(pid, lock):
            return True
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        ended, _, _ = select.select([handle], [], [], within_s)
        return bool(ended)
    finally:
        os.close(handle)
