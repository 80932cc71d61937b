"""The second engine: the same core, with attempts that all hubs on one database carry out.

One hub leads: it reads in each commit what runs ask for, queues attempts, keeps time and asks people. Every hub takes
attempts from the queue, and reports their outcome to the runs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from greenroom.clock import format_iso
from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.reactors import note_once
from greenroom.rules.workflows.core.news import News
from greenroom.rules.workflows.model import WorkflowEnding, WorkflowStep
from greenroom.services.workflow_engine.attempts import AttemptRunner, is_work
from greenroom.services.workflow_engine.dbos_queue import DbosQueue
from greenroom.services.workflow_engine.engine import Engine
from greenroom.services.workflow_engine.executor import AttemptExecutor

logger = logging.getLogger(__name__)
LOOK_S = 1.0
_EVERY = 15
"""How many looks pass between two that are made although no hub has come or gone."""
_KEEP_MS = 24 * 3600 * 1000
_FORGET_S = 60.0


class QueueExecutor:
    """Where the leading hub has attempts carried out: by whichever hub takes them from the queue."""

    def __init__(self, here: AttemptExecutor, queue: DbosQueue) -> None:
        self._here = here
        self._queue = queue

    async def submit(self, step: WorkflowStep) -> None:
        if is_work(step):
            await self._queue.put(step)
        else:
            await self._here.submit(step)

    async def cancel(self, ending: WorkflowEnding) -> None:
        await self._here.cancel(ending)

    def get_news(self, step: WorkflowStep) -> News | None:
        return self._here.get_news(step)


class SharedEngine:
    """One hub's part in carrying out the workflows of all."""

    def __init__(self, log: Log, world: AttemptExecutor, url: str, hub: str, errors: list[str]) -> None:
        self._log = log
        self._hub = hub
        self._errors = errors
        self._queue = DbosQueue(url, hub, AttemptRunner(log, world, self._complain).carry_out)
        self._world = QueueExecutor(world, self._queue)
        self._idle: set[str] = set()

    async def run(self) -> None:
        """What every hub does; a task for as long as it lives."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._queue.run())
            tasks.create_task(self._repeat(LOOK_S * _EVERY, self._return_dropped_attempts))

    async def lead(self) -> None:
        """What the leading hub does; a task for as long as it leads."""
        engine = Engine(self._log, self._world, self._errors, carries=False)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(engine.run())
            tasks.create_task(self._adopt_lost_attempts())
            tasks.create_task(self._repeat(_FORGET_S, self._delete_ended_attempts))

    async def _adopt_lost_attempts(self) -> None:
        """See that what a hub had taken when it went down is carried out by another."""
        store = self._log.store
        seen: frozenset[int] | None = None
        looks = 0
        await self._queue.poll_faster()  # who led before may have left it quick, and does not calm it down any more
        while True:
            try:
                hubs = store.hubs()
                if hubs != seen or looks % _EVERY == 0:
                    claimed = await self._queue.find_claimed()
                    others = {one.hub for one in claimed} - {self._hub}
                    dead = {hub for hub in others if not store.is_alive(hub)}
                    left = [one.id for one in claimed if one.hub in dead]
                    if left:
                        logger.warning("%s attempts of hubs that are gone are taken up by others", len(left))
                        await self._queue.give_back(left)
                seen = hubs
            except Unavailable as no:
                logger.warning("the work of other hubs cannot be looked at: %s", no)
            looks += 1
            await asyncio.sleep(LOOK_S)

    async def _return_dropped_attempts(self) -> None:
        """Put back what this hub has taken but does not carry out, as it can be when the database was gone between."""
        own = {one.id for one in await self._queue.find_claimed(self._hub)} - self._queue.here
        await self._queue.give_back(sorted(own & self._idle))
        self._idle = own

    async def _delete_ended_attempts(self) -> None:
        before = format_iso(self._log.clock.now() - _KEEP_MS)
        is_more = True
        while is_more:
            is_more = await self._queue.delete_ended(before)

    async def _repeat(self, every_s: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                await work()
            except Unavailable as no:
                logger.warning("%s must wait: %s", work.__qualname__, no)

    def _complain(self, about: str, error: Exception) -> None:
        logger.error("an attempt failed at %s", about, exc_info=error)
        note_once(self._errors, f"workflows at {about}: {error}")
