"""The one writer's transaction in SQLite: what a group of commands brings, written in one go."""

from collections.abc import Iterator

import apsw

from greenroom.log.chain import GENESIS, Raw, link
from greenroom.log.codec import Codec
from greenroom.log.model import Change, Event, Recorded
from greenroom.log.sqlite_row_writer import SqliteRowWriter


class SqliteTx(SqliteRowWriter):
    """The writer's transaction: events, their rows, command keys, the chain of privileged events, reactors' cursors.

    All of it is gathered, and written in one go when the transaction ends or when something of it is asked for.
    """

    def __init__(self, connection: apsw.Connection, codec: Codec) -> None:
        super().__init__(connection)
        self._codec = codec
        self._events: list[Raw] = []
        self._links: list[tuple[int, bytes]] = []
        self._commands: dict[str, tuple[str, int, int, int]] = {}
        self.cursors: dict[str, int] = {}

    def begin(self, cursors: dict[str, int]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.changed = {}
        self.touched = set()
        self.seq = head_of(self.connection)
        self.cursors = cursors

    def forget(self) -> None:
        super().forget()
        self._events, self._links, self._commands = [], [], {}

    def append(self, event: Event, at: int, by: str) -> Recorded:
        self.seq += 1
        kind = type(event)
        raw = (self.seq, at, by, kind.__name__, kind.version, self._codec.encode(event))
        self._events.append(raw)
        if kind.privileged:
            self._links.append((self.seq, link(self._last_link(), raw)))
        return Recorded(self.seq, at, by, event)

    def _last_link(self) -> bytes:
        if self._links:
            return self._links[-1][1]
        return self.connection.execute("SELECT hash FROM chain ORDER BY seq DESC LIMIT 1").get or GENESIS

    def known(self, key: str) -> tuple[str, int, int] | None:
        fresh = self._commands.get(key)
        if fresh is not None:
            return fresh[:3]
        return next(self.connection.execute("SELECT name, first, last FROM commands WHERE key = ?", (key,)), None)

    def remember(self, key: str, name: str, first: int, last: int, at: int) -> None:
        self._commands[key] = (name, first, last, at)

    def records(self, first: int, last: int) -> list[Recorded]:
        self._write_events()
        return list(read_events(self.connection, self._codec, first - 1, last - first + 1))

    def changes(self) -> tuple[Change, ...]:
        return tuple(sorted(self.changed.values(), key=_seq_of))

    def finish(self) -> None:
        """Write all that has been gathered."""
        self.flush()
        self._write_events()
        if self._links:
            self.connection.executemany("INSERT INTO chain (seq, hash) VALUES (?, ?)", self._links)
            self._links = []
        if self._commands:
            commands = [(key, *values) for key, values in self._commands.items()]
            self.connection.executemany("INSERT INTO commands VALUES (?, ?, ?, ?, ?)", commands)
            self._commands = {}
        if self.cursors:
            sql = "INSERT INTO cursors VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = max(seq, excluded.seq)"
            self.connection.executemany(sql, self.cursors.items())

    def _write_events(self) -> None:
        if self._events:
            sql = "INSERT INTO events (seq, at, by, type, v, data) VALUES (?, ?, ?, ?, ?, ?)"
            self.connection.executemany(sql, self._events)
            self._events = []


def _seq_of(change: Change) -> int:
    return change.seq


def head_of(connection: apsw.Connection) -> int:
    return connection.execute("SELECT max(seq) FROM events").get or 0


def read_events(connection: apsw.Connection, codec: Codec, after: int, limit: int) -> Iterator[Recorded]:
    query = "SELECT seq, at, by, type, v, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    return (codec.decode(*row) for row in connection.execute(query, (after, limit)))
