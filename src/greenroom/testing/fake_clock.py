"""A clock that a test sets while programs run, through libfaketime.

Only the time of day jumps. The clock that measures spans continues, as on a machine whose clock is set.
"""

from pathlib import Path

from greenroom.testing.machine_requirements import skip_or_fail

_LIBRARIES = "usr/lib/*/faketime/libfaketimeMT.so.1"


class ClockFile:
    """By how much the clock of the programs that have `env` is wrong."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._library = next(Path("/").glob(_LIBRARIES), None)
        if self._library is None:
            skip_or_fail("libfaketime is not installed (see `make debian`)")
        self.set_s(0)

    @property
    def env(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def set_s(self, ahead_s: float) -> None:
        """Set the clock, so many seconds ahead of the right time, or behind."""
        part = self._file.with_suffix(".part")
        part.write_text(f"{ahead_s:+f}\n")
        part.replace(self._file)
