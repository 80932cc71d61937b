"""What only the leading hub of a shared database does: reactors, timers, reading profile and policy files."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from greenroom.errors import Unavailable
from greenroom.log.store import Store

logger = logging.getLogger(__name__)
_RETRY_S = 1.0
_FAILED_S = 5.0
Duties = Callable[[], list[Coroutine[Any, Any, None]]]


class _LeadLost(Exception):
    """Another hub may lead now."""


async def run_while_leader(store: Store, part: str, duties: Duties) -> None:
    """Carry the duties of one part out whenever this hub leads in it; to be run as a task."""
    while True:
        async with store.acquire_lead(part) as until_lost:
            try:
                async with asyncio.TaskGroup() as tasks:
                    for duty in duties():
                        tasks.create_task(duty)
                    await until_lost()
                    raise _LeadLost
            except* _LeadLost:
                pass
            except* Unavailable as no:  # whoever leads next begins where the log is then
                logger.warning("the duties of %s are left for a moment: %s", part, no.exceptions[0])
                await asyncio.sleep(_RETRY_S)
            except* Exception:  # such as an unreadable database: the doors report that, so they stay open
                logger.exception("the duties of %s failed, and begin again", part)
                await asyncio.sleep(_FAILED_S)


@asynccontextmanager
async def acquire_lead_alone() -> AsyncIterator[Callable[[], Coroutine[Any, Any, None]]]:
    """The lead of a hub that shares its log with no other: it is never lost."""

    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    yield never
