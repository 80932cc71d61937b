"""What the machine must have for a test: where it is missing the test is skipped, except where all tests must run."""

import os
import shutil
from pathlib import Path

import pytest

EVERY_TEST = "GREENROOM_EVERY_TEST"


def need_program(*names: str) -> Path:
    """The first of these programs that is installed."""
    for name in names:
        if (found := find_program(name)) is not None:
            return found
    lacking(f"none of these programs is installed: {', '.join(names)} (see `make debian`)")
    raise AssertionError


def find_program(name: str) -> Path | None:
    """Where a program is, on the path or where Debian keeps it."""
    found = shutil.which(name) or _in_debian(name)
    return Path(found) if found else None


def lacking(what: str) -> None:
    """Skip the test that needs it; fail it where no test may be skipped."""
    if os.environ.get(EVERY_TEST):
        pytest.fail(what)
    pytest.skip(what)


def _in_debian(name: str) -> str | None:
    """PostgreSQL's programs are not on the path there."""
    return next((str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), None)
