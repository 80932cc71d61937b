"""Waits for messages: the commit that brings a message wakes the waiters, without polling."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from greenroom.clock import Clock
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.log.model import Commit
from greenroom.rules.access.model import CREDENTIALS
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.threads.model import MESSAGES, OPEN_STATES, THREADS
from greenroom.services.presence import Presence

WAKING = (MESSAGES, THREADS, CREDENTIALS, AGENTS)
"""The tables whose changes wake somebody."""
_PAUSE_MS = 15_000
"""A waiter that waits again within this time counts as waiting on: many clients wait in short pieces."""


@dataclass(slots=True, eq=False)
class Waiter:
    """One msg_wait under way: woken by `fresh`. When it has `ended` there is nothing left to wait for, because the
    thread, the agent's place or the credential has ended."""

    thread_id: str
    agent_id: str | None
    entered_at: int
    timeout_ms: int
    credential: str | None
    since: int
    """When the agent began to wait here, in however many pieces."""
    call_id: str = field(default_factory=lambda: new_id("wait"))
    fresh: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    ended: bool = False

    def wake(self, ended: bool = False) -> None:
        self.ended |= ended
        if not self.fresh.done():
            self.fresh.set_result(None)


class Waiters:
    """All msg_waits of the hub. They are connections, so they end with the hub and begin again with their clients."""

    def __init__(self, clock: Clock, presence: Presence, max_per_agent: int) -> None:
        self._clock = clock
        self._presence = presence
        self._max_per_agent = max_per_agent
        self._by_thread: dict[str, dict[str, Waiter]] = {}
        self._per_agent: dict[str, int] = {}
        self._left: dict[tuple[str, str | None], tuple[int, int]] = {}
        """Since when agents had waited that have just stopped, and when they did."""

    @contextmanager
    def add_waiter(
        self, thread_id: str, agent_id: str | None, timeout_ms: int, credential: str | None = None
    ) -> Iterator[Waiter]:
        """Join the waiters of a thread, with the credential that must still be valid at the end."""
        now = self._clock.now()
        since, left_at = self._left.pop((thread_id, agent_id), (now, now))
        since = since if now - left_at <= _PAUSE_MS else now
        waiter = Waiter(thread_id, agent_id, now, timeout_ms, credential, since)
        if agent_id is not None:
            count = self._per_agent.get(agent_id, 0)
            if count >= self._max_per_agent:
                raise Refused("too_many_waits", "limited", count=count)
            self._per_agent[agent_id] = count + 1
            self._presence.start_waiting(agent_id)
        self._by_thread.setdefault(thread_id, {})[waiter.call_id] = waiter
        try:
            yield waiter
        finally:
            self._forget(waiter)

    def _forget(self, waiter: Waiter) -> None:
        others = self._by_thread[waiter.thread_id]
        others.pop(waiter.call_id, None)
        if not others:
            del self._by_thread[waiter.thread_id]
        if waiter.agent_id is not None:
            self._left[waiter.thread_id, waiter.agent_id] = (waiter.since, self._clock.now())
            self._per_agent[waiter.agent_id] -= 1
            if not self._per_agent[waiter.agent_id]:
                del self._per_agent[waiter.agent_id]
            self._presence.stop_waiting(waiter.agent_id)

    def find_waiters(self, thread_id: str) -> list[Waiter]:
        """Who waits in a thread at the moment."""
        return list(self._by_thread.get(thread_id, {}).values())

    def find_thread_ids(self) -> list[str]:
        """Threads in which somebody waits."""
        return list(self._by_thread)

    def forget_left(self) -> None:
        """Forget waiters that have not come back in time; called every few seconds."""
        latest = self._clock.now() - _PAUSE_MS
        self._left = {who: left for who, left in self._left.items() if left[1] >= latest}

    def release(self) -> None:
        """Let everybody go with nothing: the hub is stopping, and they will ask again."""
        for waiter in self._find_all():
            waiter.wake(ended=True)

    def count(self) -> int:
        return sum(len(waiters) for waiters in self._by_thread.values())

    def on_commit(self, commit: Commit) -> None:
        """Wake the waiters for what the commit brought."""
        if not self._by_thread:
            return
        threads: dict[str, bool] = {}
        gone: set[str | None] = set()
        for change in commit.changes:
            row = change.row
            if change.table is MESSAGES and row is not None and row.seq == change.seq:
                threads.setdefault(row.thread_id, False)
            elif change.table is THREADS and (row is None or row.status not in OPEN_STATES):
                threads[change.key] = True
            elif (change.table is CREDENTIALS and row is not None and row.revoked_at is not None) or (
                change.table is AGENTS and row is not None and row.state == "kicked"
            ):
                gone.add(change.key)
        for thread_id, ended in threads.items():
            for waiter in self._by_thread.get(thread_id, {}).values():
                waiter.wake(ended)
        if gone:
            for waiter in self._find_all():
                if waiter.agent_id in gone or waiter.credential in gone:
                    waiter.wake(ended=True)

    def _find_all(self) -> list[Waiter]:
        return [waiter for waiters in self._by_thread.values() for waiter in waiters.values()]
