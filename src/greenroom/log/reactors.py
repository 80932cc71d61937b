"""Reactors act on events outside the rows. Each has a durable cursor and sees every event at least once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit, Recorded

logger = logging.getLogger(__name__)
_BATCH = 500
_WAITING = 5_000
_REST_S = 0.2
_RETRY_S = 5.0
_NOTED = 100


def _all(records: list[Recorded]) -> list[Recorded]:
    return records


@dataclass(frozen=True)
class EventReactor:
    """A name for the cursor, the kinds of events it reads, and its action for one."""

    name: str
    kinds: tuple[type, ...]
    react: Callable[[Recorded], Awaitable[None]]
    choose: Callable[[list[Recorded]], list[Recorded]] = _all
    """Whether it has to act on an event, decided at a glance: most messages need no action."""


class ReactorInbox:
    """The events that a reactor wants, as they are committed; when too many gather they are read from the log again.

    Those that come while the reactor waits, and about which it has nothing to do, only move its cursor: most messages
    would otherwise wake each reactor's task for nothing.
    """

    def __init__(self, log: Log, reactor: EventReactor) -> None:
        self._store = log.store
        self._reactor = reactor
        self._records: list[Recorded] = []
        self._is_whole = False
        self._is_idle = False
        self._wake = asyncio.Event()
        self.close = log.subscribe(self._on_commit, *reactor.kinds)

    def _on_commit(self, commit: Commit) -> None:
        if not self._is_whole or len(self._records) >= _WAITING:
            self._is_whole = False
        else:
            self._records += commit.records
            if self._is_idle and not self._reactor.choose(self._records):
                self._store.note_cursor(self._reactor.name, self._records[-1].seq)
                self._records = []
                return
        self._is_idle = False
        self._wake.set()

    def take(self) -> list[Recorded] | None:
        """The events since the last time; None when the log has to be read for them."""
        records, was_whole = self._records, self._is_whole
        self._records, self._is_whole, self._is_idle = [], True, False
        self._wake.clear()
        return records if was_whole else None

    async def wait_briefly(self) -> bool:
        """Wait for something to come, for a moment at most; whether it has."""
        late = asyncio.get_running_loop().call_later(_REST_S, self._wake.set)
        self._is_idle = True
        try:
            await self._wake.wait()
        finally:
            late.cancel()
        return self._has_come()

    async def wait(self) -> None:
        """Wait for something to come."""
        while not self._has_come():
            self._wake.clear()
            await self._wake.wait()

    def _has_come(self) -> bool:
        return bool(self._records) or not self._is_whole


async def run_reactor(log: Log, reactor: EventReactor, errors: "list[str] | None" = None) -> None:
    """Bring a reactor up to date and keep it there; to be run as a task. A failing event is tried again.

    Its cursor goes to disk with whatever is written next, and by itself when it rests for a moment.
    """
    inbox = ReactorInbox(log, reactor)
    try:
        seq = log.store.cursor(reactor.name)
        while True:
            records = inbox.take()
            if records is None:
                seq = await _catch_up(log, reactor, seq, errors)
            elif records:
                for record in reactor.choose([record for record in records if record.seq > seq]):
                    log.store.note_cursor(reactor.name, await _react(reactor, record, errors))
                seq = max(seq, records[-1].seq)
                log.store.note_cursor(reactor.name, seq)
            if not await inbox.wait_briefly():
                await _move_cursor(log, reactor.name, seq)
                await inbox.wait()
    finally:
        inbox.close()


async def _catch_up(log: Log, reactor: EventReactor, seq: int, errors: list[str] | None) -> int:
    """Read on from a cursor. Later commits are in the inbox: this does not wait for them."""
    while True:
        records = log.store.events(seq, _BATCH)
        for record in reactor.choose([record for record in records if type(record.event) in reactor.kinds]):
            await _react(reactor, record, errors)
        if not records:
            log.store.note_cursor(reactor.name, seq)
            return seq
        seq = records[-1].seq
        await _move_cursor(log, reactor.name, seq)


async def _react(reactor: EventReactor, record: Recorded, errors: list[str] | None) -> int:
    while True:
        try:
            await reactor.react(record)
            return record.seq
        except Unavailable as no:  # such as a full disk: callers that wait get the error, and it is no bug
            logger.warning("reactor %s must wait at seq %s: %s", reactor.name, record.seq, no)
        except Exception as error:
            logger.exception("reactor %s failed at seq %s", reactor.name, record.seq)
            if errors is not None:
                note_once(errors, f"{reactor.name} at {record.seq}: {error}")
        await asyncio.sleep(_RETRY_S)


def note_once(errors: list[str], error: str) -> None:
    """Note what failed; it is tried again and again, and counts once."""
    if error not in errors[-_NOTED:]:
        errors.append(error)


async def _move_cursor(log: Log, name: str, seq: int) -> None:
    while log.store.cursor(name) < seq:
        try:
            await log.store.move_cursor(name, seq)
        except Unavailable as no:
            logger.warning("the cursor of %s must wait: %s", name, no)
            await asyncio.sleep(_RETRY_S)
