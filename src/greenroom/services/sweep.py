"""Periodic work, every few seconds."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from greenroom.errors import Unavailable
from greenroom.services.hub import Hub
from greenroom.services.period import get_time_left_s

logger = logging.getLogger(__name__)
SWEEP_S = 5.0


async def run_every(every_s: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something every few seconds. If it fails, it runs again the next time, and the hub continues."""
    while True:
        await asyncio.sleep(get_time_left_s(every_s))
        try:
            await work()
        except Unavailable as no:
            logger.warning("%s must wait: %s", work.__qualname__, no)
        except Exception:
            logger.exception("%s failed", work.__qualname__)


class Sweep:
    """The periodic work: find silent agents, record uses of logins, forget old keys."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._forget_at = time.monotonic()

    async def sweep(self) -> None:
        self._hub.presence.sweep()
        self._hub.bus.waiters.forget_left()
        await self._hub.login_uses.flush()
        if time.monotonic() >= self._forget_at:
            keep_ms = self._hub.settings.command_memory_days * 86_400_000
            await self._hub.store.forget_commands(self._hub.log.clock.now() - keep_ms)
            self._forget_at = time.monotonic() + 3600
