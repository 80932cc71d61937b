"""Finds the runtimes that are installed on a node's machine, at its start and when one is installed later."""

import asyncio
import logging
import os
from pathlib import Path

from greenroom.runtimes.contract import Driver

logger = logging.getLogger(__name__)
_AGAIN_S = 30.0
"""An installation may have put a program into its place before the program can run."""


class RuntimeFinder:
    """Asks each driver for its runtime, and those without one again when a directory of programs has changed."""

    def __init__(self, drivers: dict[str, Driver]) -> None:
        self._drivers = drivers
        self._seen: tuple[int, ...] = ()
        self._again_at: float | None = None
        self.found: dict[str, str] = {}
        """Versions by the drivers' names."""

    def is_due(self, now: float) -> bool:
        """Whether it is worth looking; looking itself may start programs."""
        if _read_path_times() != self._seen:
            return True
        return self._again_at is not None and now > self._again_at

    async def find_more(self, now: float) -> bool:
        """Look again for runtimes that were missing; returns whether one was found."""
        seen, before = _read_path_times(), len(self.found)
        self._again_at = now + _AGAIN_S if seen != self._seen else None
        self._seen = seen
        env = dict(os.environ)
        missing = [(name, driver) for name, driver in self._drivers.items() if name not in self.found]
        await asyncio.gather(*(self._find(name, driver, env) for name, driver in missing))
        return len(self.found) > before

    async def _find(self, name: str, driver: Driver, env: dict[str, str]) -> None:
        try:
            found = await driver.find(env)
        except Exception:
            logger.exception("whether %s is installed cannot be found out", name)
            return
        if found is not None:
            self.found[name] = found.version


def _read_path_times() -> tuple[int, ...]:
    """When something was put into, or taken out of, the directories in which programs are looked for."""
    times = []
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        try:
            times.append(Path(folder).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    return tuple(times)
