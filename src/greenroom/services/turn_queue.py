"""Turns in a crowded thread: agents that would all answer the same message respond one after the other.

Only one of them can post on what it has read; the others would be refused, read again, and be refused again. So when
some have just been handed their context, the rest wait until one of these comes back, and then read what it wrote. As
soon as nobody comes back, because agents think for longer than a moment, all are let go.
"""

import asyncio
from collections import deque

_AT_ONCE = 2
_STILL_S = 0.1
_HOLD_S = 1.0


class ThreadTurns:
    """A thread: which agent has a fresh context, and which wait for a turn, in order."""

    __slots__ = ("out", "queue", "timer")

    def __init__(self) -> None:
        self.out: set[str] = set()
        self.queue: deque[asyncio.Future[None]] = deque()
        self.timer: asyncio.TimerHandle | None = None


class TurnQueue:
    """The rooms in which somebody is out."""

    def __init__(self) -> None:
        self._rooms: dict[str, ThreadTurns] = {}

    async def wait_for_turn(self, thread_id: str, agent_id: str) -> bool:
        """Wait for a turn, for a moment at most; False when there was no need to."""
        room = self._rooms.setdefault(thread_id, ThreadTurns())
        must_wait = len(room.out) >= _AT_ONCE
        if must_wait:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            room.queue.append(turn)
            try:
                async with asyncio.timeout(_HOLD_S):
                    await turn
            except TimeoutError:
                pass
            finally:
                if not turn.done():
                    turn.cancel()
            room = self._rooms.setdefault(thread_id, room)
        room.out.add(agent_id)
        self._restart_timer(thread_id, room)
        return must_wait

    def end_turn(self, thread_id: str, agent_id: str) -> None:
        """The agent has posted, or waits again: it is the next one's turn."""
        room = self._rooms.get(thread_id)
        if room is None or agent_id not in room.out:
            return
        room.out.discard(agent_id)
        while room.queue:
            turn = room.queue.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        self._restart_timer(thread_id, room)

    def _restart_timer(self, thread_id: str, room: ThreadTurns) -> None:
        """Let all go when nothing has moved for a moment."""
        if room.timer is not None:
            room.timer.cancel()
        room.timer = asyncio.get_running_loop().call_later(_STILL_S, self._release_all, thread_id)

    def _release_all(self, thread_id: str) -> None:
        for turn in self._rooms.pop(thread_id).queue:
            if not turn.done():
                turn.set_result(None)
