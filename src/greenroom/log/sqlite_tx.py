"""The one writer's transaction in SQLite: what a group of commands brings, written in one go."""

from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from greenroom.log.codec import Codec
from greenroom.log.gathering import Gathering
from greenroom.log.model import Recorded
from greenroom.log.sqlite_row_writer import SqliteRowWriter


class SqliteTx(SqliteRowWriter, Gathering):
    """The writer's transaction: rows, and what goes with them."""

    def __init__(self, connection: apsw.Connection, codec: Codec) -> None:
        SqliteRowWriter.__init__(self, connection)
        Gathering.__init__(self, codec)

    def begin(self, cursors: dict[str, int]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.changed = {}
        self.touched = set()
        self.seq = head_of(self.connection)
        self.cursors = cursors

    def forget(self) -> None:
        super().forget()
        self._clear()

    def first_of(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        return next(self.connection.execute(sql, values), None)

    def write_all(self, sql: str, values: Iterable[tuple[Any, ...]]) -> None:
        self.connection.executemany(sql, values)

    def events_after(self, after: int, limit: int) -> Iterator[Recorded]:
        return read_events(self.connection, self._codec, after, limit)


def head_of(connection: apsw.Connection) -> int:
    return connection.execute("SELECT max(seq) FROM events").get or 0


def read_events(connection: apsw.Connection, codec: Codec, after: int, limit: int) -> Iterator[Recorded]:
    query = "SELECT seq, at, by, type, v, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    return (codec.decode(*row) for row in connection.execute(query, (after, limit)))
