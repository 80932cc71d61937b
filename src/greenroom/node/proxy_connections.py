"""The connections to a node's hub proxy, and which of them close when there are too many."""

import asyncio
from collections.abc import Container

Connection = asyncio.Task[None]
MOST = 1000
_MOST_STRANGERS = 64


class ProxyConnections:
    """Connections of agents, up to a number, and of strangers, of which the oldest is closed when there are too many.

    Strangers are of two kinds, so that those who send nothing never displace one that has sent a request.
    """

    def __init__(self) -> None:
        self._silent: dict[Connection, None] = {}
        """They have sent no request yet; oldest first."""
        self._unproven: dict[Connection, None] = {}
        """They have sent a credential that the hub has not taken yet; oldest first."""
        self._admitted: set[Connection] = set()
        self._proven: dict[bytes, None] = {}

    def note_silent(self) -> None:
        """The current connection has sent nothing so far."""
        _add(_need_current_connection(), self._silent)

    def admit(self, bearer: bytes, known: Container[bytes]) -> bool:
        """Count the current connection as an agent's, if its credential is known; False when there are too many."""
        connection = _need_current_connection()
        self._silent.pop(connection, None)
        if bearer not in known and bearer not in self._proven:
            _add(connection, self._unproven)
            return True
        self._admitted.add(connection)
        return len(self._admitted) <= MOST

    def note_proven(self, bearer: bytes) -> None:
        """The hub has taken this credential: agents also have credentials that the node has not given them."""
        if bearer and bearer not in self._proven:
            self._proven[bearer] = None
            if len(self._proven) > MOST:
                del self._proven[next(iter(self._proven))]

    def forget(self, connection: Connection) -> None:
        """A connection has ended."""
        self._silent.pop(connection, None)
        self._unproven.pop(connection, None)
        self._admitted.discard(connection)


def _need_current_connection() -> Connection:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 connections are served in tasks
    return task


def _add(connection: Connection, strangers: dict[Connection, None]) -> None:
    strangers[connection] = None
    if len(strangers) > _MOST_STRANGERS:
        oldest = next(iter(strangers))
        del strangers[oldest]
        oldest.cancel()
