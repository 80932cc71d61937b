"""The queue of attempts, as one hub sees it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from greenroom.clock import SystemClock, format_iso
from greenroom.rules.workflows.model import WorkflowStep
from greenroom.services.workflow_engine.dbos_queue import ClaimedAttempt, DbosQueue
from greenroom.testing.postgres import PostgresServer
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio
_STEP = WorkflowStep(run_id="wfr_1", id="each[0]", attempt=2, waits_kind="engine", status="running")
_ID = "wfr_1:each[0]:2"


class Carrier:
    """Carries attempts out: it notes them, and holds them until it may let go."""

    def __init__(self) -> None:
        self.given: asyncio.Queue[tuple[str, str, int]] = asyncio.Queue()
        self.may_end = asyncio.Event()

    async def carry_out(self, run_id: str, step_id: str, number: int) -> None:
        self.given.put_nowait((run_id, step_id, number))
        await self.may_end.wait()


@contextlib.asynccontextmanager
async def queue_on(url: str, hub: str, carrier: Carrier) -> AsyncIterator[DbosQueue]:
    queue = DbosQueue(url, hub, carrier.carry_out)
    running = asyncio.create_task(queue.run())
    try:
        async with asyncio.timeout(WAIT_S):
            yield queue
    finally:
        running.cancel()
        await asyncio.wait([running])


async def all_done(queue: DbosQueue) -> None:
    while await queue.find_claimed():
        pass  # each look is a question to the database; the time is bounded by the queue's


async def test_an_attempt_put_in_twice_is_carried_out_once_and_forgotten_after_its_time(
    postgres: PostgresServer,
) -> None:
    carrier = Carrier()
    async with queue_on(postgres.create_database(), "hub", carrier) as queue:
        await asyncio.gather(*(queue.put(_STEP) for _ in range(5)))
        assert await carrier.given.get() == ("wfr_1", "each[0]", 2)
        assert await queue.find_claimed() == [ClaimedAttempt(_ID, "hub")]
        assert queue.here == {_ID}
        carrier.may_end.set()
        await all_done(queue)
        await queue.put(_STEP)
        next_one = WorkflowStep(run_id="wfr_1", id="last", attempt=1, waits_kind="engine", status="running")
        await queue.put(next_one)
        assert await carrier.given.get() == ("wfr_1", "last", 1)
        await all_done(queue)
        now = SystemClock().now()
        assert not await queue.delete_ended(format_iso(now - 3_600_000))
        await queue.put(_STEP)
        assert not await queue.delete_ended(format_iso(now + 3_600_000))
        await queue.put(_STEP)  # what was forgotten may come again, and finds its step further on
        assert await carrier.given.get() == ("wfr_1", "each[0]", 2)
        assert carrier.given.empty()


async def test_an_attempt_that_a_hub_has_left_is_carried_out_by_the_next(postgres: PostgresServer) -> None:
    url, first, second = postgres.create_database(), Carrier(), Carrier()
    async with queue_on(url, "one", first) as queue:
        await queue.put(_STEP)
        await first.given.get()
    async with queue_on(url, "other", second) as queue:
        assert await queue.find_claimed("other") == []
        assert await queue.find_claimed() == [ClaimedAttempt(_ID, "one")]
        await queue.give_back([_ID])
        assert await second.given.get() == ("wfr_1", "each[0]", 2)
        assert await queue.find_claimed("other") == [ClaimedAttempt(_ID, "other")]
        second.may_end.set()
