"""What every engine's program shares: its arguments, its scratch folder, and how it tells what it measured.

It is run by the Python of each engine's own environment, so it uses nothing but the standard library.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def main(jobs: "Mapping[str, Callable[[Path, int], dict[str, float]]]") -> None:
    """Do the job that is named: `python FILE JOB SIZE`."""
    name, size = sys.argv[1], int(sys.argv[2])
    told = os.dup(1)
    os.dup2(2, 1)  # what an engine prints is not its result
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as folder:
        found = jobs[name](Path(folder), size)
        os.write(told, json.dumps(found).encode())


class Watch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def s(self) -> float:
        return time.perf_counter() - self._start


def memory_kb() -> float:
    """The resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1])
    return 0.0
