"""A service: something that runs in the hub for as long as it does."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from greenroom.errors import Unavailable
from greenroom.log.leadership import run_while_leader
from greenroom.log.log import Log
from greenroom.log.subscriptions import OnCommit, Watched

logger = logging.getLogger(__name__)
_RETRY_S = 5.0


@dataclass(frozen=True)
class Service:
    """A service: its name, what it runs, and what it watches."""

    name: str
    start: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Runs until it is cancelled, and again when it has failed; None for a service that only reacts to commits."""
    prepare: Callable[[], Awaitable[None]] | None = None
    """Done before any service starts."""
    only_on_leader: bool = False
    """Whether one hub runs it for all that share the log; it receives commits only while it runs."""
    watches: tuple[Watched, ...] = ()
    """The tables and events whose commits are handed to `on_commit`; none means all."""
    on_commit: OnCommit | None = None


@asynccontextmanager
async def run_services(log: Log, part: str, services: list[Service]) -> AsyncIterator[None]:
    """Run services, in order, for as long as this is entered. `part` names the leadership that some of them need."""
    with ExitStack() as subscriptions:
        for service in services:
            if service.on_commit is not None and not service.only_on_leader:
                subscriptions.callback(log.subscribe(service.on_commit, *service.watches))
        for service in services:
            if service.prepare is not None:
                await service.prepare()
        led = [service for service in services if service.only_on_leader]
        async with asyncio.TaskGroup() as tasks:
            started = [
                tasks.create_task(_keep_running(service.name, service.start), name=service.name)
                for service in services
                if service.start is not None and not service.only_on_leader
            ]
            if led:
                lead = run_while_leader(log.store, part, lambda: [_run_led(log, service) for service in led])
                started.append(tasks.create_task(lead, name=f"lead of {part}"))
            try:
                yield
            finally:
                for task in started:
                    task.cancel()


async def _keep_running(name: str, start: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """A service that fails takes nothing down with it: doors stay open and say what they cannot do."""
    while True:
        try:
            await start()
            return
        except Exception as error:
            raise_if_cancelled()
            if isinstance(error, Unavailable):
                logger.warning("the service %s must wait: %s", name, error)
            else:
                logger.exception("the service %s failed, and starts again", name)
        await asyncio.sleep(_RETRY_S)


def raise_if_cancelled() -> None:
    """End a task that was cancelled while it failed: the failure can take the place of the cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _run_led(log: Log, service: Service) -> None:
    with ExitStack() as subscriptions:
        if service.on_commit is not None:
            subscriptions.callback(log.subscribe(service.on_commit, *service.watches))
        if service.start is not None:
            await service.start()
