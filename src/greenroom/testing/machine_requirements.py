"""What a test needs on the machine. Without it the test is skipped, except where all tests must run."""

import os
import shutil
from pathlib import Path

import pytest

EVERY_TEST = "GREENROOM_EVERY_TEST"


def need_program(*names: str) -> Path:
    """The first of these programs that is installed."""
    for name in names:
        if (found := get_program(name)) is not None:
            return found
    skip_or_fail(f"none of these programs is installed: {', '.join(names)} (see `make debian`)")
    raise AssertionError


def get_program(name: str) -> Path | None:
    """Where a program is, on the path or where Debian keeps it."""
    found = shutil.which(name) or _get_debian_program(name)
    return Path(found) if found else None


def skip_or_fail(what: str) -> None:
    """Skip the test that needs it; fail it where no test may be skipped."""
    if os.environ.get(EVERY_TEST):
        pytest.fail(what)
    pytest.skip(what)


def _get_debian_program(name: str) -> str | None:
    """PostgreSQL's programs are not on the path there."""
    return next((str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), None)
