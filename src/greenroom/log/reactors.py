"""Reactors: what follows from events outside the rows. Each has a durable cursor and sees every event at least once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from greenroom.log.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit, Recorded

logger = logging.getLogger(__name__)
_BATCH = 500
_RETRY_S = 5.0


@dataclass(frozen=True)
class Reactor:
    """A name for the cursor, the kinds of events it wants, and what it does about one."""

    name: str
    kinds: tuple[type, ...]
    react: Callable[[Recorded], Awaitable[None]]


async def run_reactor(log: Log, reactor: Reactor, errors: "list[str] | None" = None) -> None:
    """Bring a reactor up to date and keep it there; to be run as a task. A failing event is tried again."""
    wake = asyncio.Event()
    interested = set(reactor.kinds)

    def on_commit(commit: Commit) -> None:
        if any(type(record.event) in interested for record in commit.records):
            wake.set()

    unsubscribe = log.subscribe(on_commit)
    try:
        seq = log.store.cursor(reactor.name)
        while True:
            wake.clear()
            seq = await _catch_up(log, reactor, interested, seq, errors)
            await wake.wait()
    finally:
        unsubscribe()


async def _catch_up(log: Log, reactor: Reactor, kinds: set[type], seq: int, errors: list[str] | None) -> int:
    while records := log.store.events(seq, _BATCH):
        for record in records:
            while type(record.event) in kinds:
                try:
                    await reactor.react(record)
                    break
                except Exception as error:
                    logger.exception("reactor %s failed at seq %s", reactor.name, record.seq)
                    if errors is not None:
                        errors.append(f"{reactor.name} at {record.seq}: {error}")
                    await asyncio.sleep(_RETRY_S)
            seq = record.seq
        await _move_cursor(log, reactor.name, seq)
    return seq


async def _move_cursor(log: Log, name: str, seq: int) -> None:
    while True:
        try:
            return await log.store.move_cursor(name, seq)
        except Unavailable as no:
            logger.warning("the cursor of %s must wait: %s", name, no)
            await asyncio.sleep(_RETRY_S)
