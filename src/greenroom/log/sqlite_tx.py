"""The single writer's transaction in SQLite: writes the results of a group of commands at once."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apsw

from greenroom.log.codec import Codec
from greenroom.log.model import Event, Recorded, Table, Value
from greenroom.log.sqlite_row_writer import SqliteRowWriter
from greenroom.log.sqlite_text_index import SqliteTextIndex
from greenroom.log.write_batch import WriteBatch

_QUICK_BYTES = 1 << 18
"""Fewer bytes than these are put into the index of words at once: another thread would cost more than it saves."""


class SqliteTx(SqliteRowWriter, WriteBatch):
    """The writer's transaction: rows, and what goes with them.

    A transaction that puts off long work leaves three things to the thread that commits: the rows of many events, the
    index of words, and the rows that are dropped last.
    """

    def __init__(self, connection: apsw.Connection, codec: Codec) -> None:
        SqliteRowWriter.__init__(self, connection)
        WriteBatch.__init__(self, codec)
        self._puts_off = False
        self._unindexed: dict[Table[Any], SqliteTextIndex] = {}
        self._dropped: list[tuple[Table[Any], Mapping[str, Value]]] = []

    @property
    def needs_commit(self) -> bool:
        return bool(self._dropped)

    def begin(self, cursors: dict[str, int], *, puts_off: bool = False) -> None:
        self._puts_off = puts_off
        self.connection.execute("BEGIN IMMEDIATE")
        self.changed = {}
        self.touched = set()
        self.seq = read_head(self.connection)
        self.cursors = cursors

    def forget(self) -> None:
        super().forget()
        self._clear()
        self._unindexed, self._dropped = {}, []

    def append(self, event: Event, at: int, by: str) -> Recorded:
        if self._dropped:
            self._drop_now()
        return super().append(event, at, by)

    def drop_last(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        self._dropped.append((table, where))
        if not self._puts_off:
            self._drop_now()

    def index_words(self, words: SqliteTextIndex) -> None:
        if self._puts_off and words.count_waiting_bytes() > _QUICK_BYTES:
            self._unindexed[words.table] = words
        else:
            super().index_words(words)

    def do_long_work(self) -> None:
        """Do the deferred work, after everything else and before the commit."""
        if self.is_long:
            self.finish()
        self._drop_now()
        unindexed, self._unindexed = self._unindexed, {}
        for words in unindexed.values():
            words.catch_up()

    def _drop_now(self) -> None:
        dropped, self._dropped = self._dropped, []
        for table, where in dropped:
            self.drop_all(table, where)

    def get_first(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        return next(self.connection.execute(sql, values), None)

    def write_all(self, sql: str, values: Iterable[tuple[Any, ...]]) -> None:
        self.connection.executemany(sql, values)

    def events_after(self, after: int, limit: int) -> Iterator[Recorded]:
        return read_events(self.connection, self._codec, after, limit)


def read_head(connection: apsw.Connection) -> int:
    return connection.execute("SELECT max(seq) FROM events").get or 0


def read_events(
    connection: apsw.Connection, codec: Codec, after: int, limit: int, most_bytes: int = 1 << 62
) -> Iterator[Recorded]:
    """Events after a seq, oldest first, up to the one that makes them larger than so many bytes."""
    query = "SELECT seq, at, by, type, v, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    for row in connection.execute(query, (after, limit)):
        yield codec.decode(*row)
        most_bytes -= len(row[-1])
        if most_bytes < 0:
            return
