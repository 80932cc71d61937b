"""Run pytest in four workers, and run the few tests that failed once more, alone. The ten slowest are listed.

python scripts/run_tests.py [-m anywhere]

A test that needs the second run is named at the end: it depends on the machine being quiet, and has to be fixed. A test
that fails twice fails the run, and so do more failures than a busy machine explains.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

WORKERS = 4
MOST_RETRIED = 8
_TESTS_FAILED = 1
_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def run_pytest(*arguments: str) -> int:
    # Without kept bytecode each worker would compile every test again: seven seconds of processor time each.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], env=kept, check=False).returncode


def main() -> int:
    _FAILED.unlink(missing_ok=True)
    code = run_pytest("-n", str(WORKERS), "--durations", "10", *sys.argv[1:])
    if code != _TESTS_FAILED or not _FAILED.is_file():
        return code
    failed = list(json.loads(_FAILED.read_text()))
    if len(failed) > MOST_RETRIED:
        return code
    print(f"\nRunning {len(failed)} failed tests again, alone", flush=True)
    code = run_pytest("-n", "0", *failed)
    if code == 0:
        print("\nPassed only when run alone; fix what they depend on:", *failed, sep="\n  ", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
