"""MCP sessions (2025-11-25 and older): each belongs to one principal, their number is limited, and idle ones end.

A session holds nothing that a restart would lose. A session from before a restart of the hub, or from another hub of
the same log, therefore continues. Not every client would start a new one.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from greenroom.doors.mcp.exchange import RequestId

_PART = 8


def _derive_id_suffix(begin: str, owner: str) -> str:
    """The secret end of an id, so that nobody but its owner can use the session."""
    return hashlib.sha256(f"{begin} {owner}".encode()).hexdigest()[:_PART]


@dataclass(slots=True, eq=False)
class McpSession:
    """A client that has said hello. All that it needs is known here: the calls themselves hold no state."""

    id: str
    owner: str
    version: str = ""
    used_s: float = 0.0
    in_flight: dict[RequestId, anyio.CancelScope] = field(default_factory=dict)
    stream: anyio.CancelScope | None = None
    """The open stream from hub to client, of which a session has at most one."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the list of tools has changed since the client was notified."""

    def cancel(self, request_id: object) -> None:
        """Cancel a call in flight, if there is one by this id."""
        if isinstance(request_id, int | str) and request_id in self.in_flight:
            self.in_flight[request_id].cancel()

    def end(self) -> None:
        """Cancel everything that still runs."""
        for scope in self.in_flight.values():
            scope.cancel()
        if self.stream is not None:
            self.stream.cancel()


class McpSessions:
    """All open sessions, least recently used first."""

    def __init__(self, limit: int, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._idle_s = idle_s
        self._clock = clock
        self._here = secrets.token_hex(_PART // 2)
        """What the ids of sessions begin with that were opened here: those that are not there have ended."""
        self._open: OrderedDict[str, McpSession] = OrderedDict()
        self._per_owner: Counter[str] = Counter()

    def __len__(self) -> int:
        self._end_idle()
        return len(self._open)

    def is_full(self) -> bool:
        """No session can be opened by anybody."""
        return len(self) >= self._limit

    def is_full_for(self, owner: str) -> bool:
        """This principal has half of all sessions, and must not shut the others out."""
        return self._per_owner[owner] >= max(1, self._limit // 2)

    def open(self, owner: str) -> McpSession:
        """A new session of this principal; the caller has asked whether there is room."""
        begin = self._here + secrets.token_hex(8)
        return self._add(begin + _derive_id_suffix(begin, owner), owner)

    def _add(self, session_id: str, owner: str) -> McpSession:
        session = McpSession(session_id, owner, used_s=self._clock())
        self._open[session.id] = session
        self._per_owner[owner] += 1
        return session

    def get(self, session_id: str, owner: str) -> McpSession | None:
        """The session, as though it did not exist for anybody but its owner; it counts as used now."""
        self._end_idle()
        session = self._open.get(session_id)
        if session is None and self._is_from_elsewhere(session_id, owner) and not self.is_full_for(owner):
            session = None if self.is_full() else self._add(session_id, owner)
        if session is None or session.owner != owner:
            return None
        self.touch(session)
        return session

    def _is_from_elsewhere(self, session_id: str, owner: str) -> bool:
        """Whether a session of this owner was opened before the hub was restarted, or at another one."""
        begin, proof = session_id[:-_PART], session_id[-_PART:]
        return not begin.startswith(self._here) and hmac.compare_digest(
            proof.encode(), _derive_id_suffix(begin, owner).encode()
        )

    def touch(self, session: McpSession) -> None:
        """Its idle time starts again."""
        if session.id in self._open:
            session.used_s = self._clock()
            self._open.move_to_end(session.id)

    def end(self, session: McpSession) -> None:
        """Forget the session and cancel everything that runs in it."""
        if self._open.pop(session.id, None) is None:
            return
        self._per_owner[session.owner] -= 1
        if not self._per_owner[session.owner]:
            del self._per_owner[session.owner]
        session.end()

    def notify_tools_changed(self) -> None:
        """The list of tools has changed: notify clients that have a stream, and others when they open one."""
        for session in self._open.values():
            session.changed.set()

    def end_streams(self) -> None:
        """End the open streams, and nothing else."""
        for session in self._open.values():
            if session.stream is not None:
                session.stream.cancel()

    def end_all(self) -> None:
        """End every session."""
        for session in list(self._open.values()):
            self.end(session)

    def _end_idle(self) -> None:
        oldest = self._clock() - self._idle_s
        while self._open:
            session = next(iter(self._open.values()))
            if session.used_s >= oldest:
                return
            if session.in_flight or session.stream is not None:
                self.touch(session)
            else:
                self.end(session)
