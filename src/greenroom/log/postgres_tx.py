"""Transactions of a log in PostgreSQL: the writer's, under a lock that all hubs share, and consistent snapshots."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import psycopg

from greenroom.log.codec import Codec
from greenroom.log.model import Recorded
from greenroom.log.postgres_connection import LOST, Connection, make_unreachable_error
from greenroom.log.postgres_row_writer import PostgresRowWriter
from greenroom.log.postgres_rows import PostgresRows
from greenroom.log.write_batch import WriteBatch

WRITER_LOCK = 0x67_72_65_65_01
CHANNEL = "greenroom_log"
"""Where the database says that somebody has written, and how far the log has come."""
_EVENT = "SELECT seq, at, by, type, v, data FROM events"


class PostgresTx(PostgresRowWriter, WriteBatch):
    """The writer's transaction: rows, and what goes with them."""

    lost: tuple[type[Exception], ...] = LOST

    def __init__(self, connection: Connection, codec: Codec) -> None:
        PostgresRowWriter.__init__(self, connection)
        WriteBatch.__init__(self, codec)

    def begin(self, cursors: dict[str, int]) -> int:
        """Become the writer; returns the seq that the log has come to."""
        self.run("BEGIN")
        self.run("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
        self.changed = {}
        self.cursors = cursors
        self.seq = read_head(self)
        return self.seq

    def forget(self) -> None:
        super().forget()
        self._clear()

    def get_first(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        return self.run(sql.replace("?", "%s"), map(_replace_nul, values)).fetchone()

    def write_all(self, sql: str, values: Iterable[tuple[Any, ...]]) -> None:
        self.run_many(sql.replace("?", "%s"), [tuple(map(_replace_nul, line)) for line in values])

    def events_after(self, after: int, limit: int) -> Iterator[Recorded]:
        return read_events(self, self._codec, after, limit)

    def write_events(self) -> None:
        if self._events:
            super().write_events()
            self.run("SELECT pg_notify(%s, %s)", (CHANNEL, str(self.seq)))


def _replace_nul(value: Any) -> Any:
    """PostgreSQL has no text with a NUL in it."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def read_head(rows: PostgresRows) -> int:
    """The newest seq."""
    found = rows.run("SELECT max(seq) FROM events").fetchone()
    return (found and found[0]) or 0


def read_events(
    rows: PostgresRows, codec: Codec, after: int, limit: int, most_bytes: int = 1 << 62
) -> Iterator[Recorded]:
    """Events after a seq, oldest first, up to the one that makes them larger than so many bytes."""
    for row in rows.run(f"{_EVENT} WHERE seq > %s ORDER BY seq LIMIT %s", (after, limit)):
        yield codec.decode(*row)
        most_bytes -= len(row[-1])
        if most_bytes < 0:
            return


class PostgresSnapshot(PostgresRows):
    """A read transaction: rows and log at one seq."""

    def __init__(self, connection: Connection, codec: Codec) -> None:
        super().__init__(connection)
        self._codec = codec
        self.seq = 0

    def __enter__(self) -> "PostgresSnapshot":
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.seq = read_head(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.run("COMMIT")

    def run(self, sql: str, values: Iterable[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        try:
            return super().run(sql, values)
        except LOST as error:
            raise make_unreachable_error(error) from error

    def all_events(self, after: int = 0) -> Iterator[Recorded]:
        with self.connection.cursor(name="all_events") as cursor:
            cursor.execute(f"{_EVENT} WHERE seq > %s ORDER BY seq", (after,))
            for row in cursor:
                yield self._codec.decode(*row)

    def privileged_events(self, after: int) -> Iterator[Recorded]:
        query = "SELECT seq, at, by, type, v, data FROM chain JOIN events USING (seq) WHERE seq > %s ORDER BY seq"
        with self.connection.cursor(name="privileged_events") as cursor:
            cursor.execute(query, (after,))
            for row in cursor:
                yield self._codec.decode(*row)

    def gone_since(self, table: str, seq: int, limit: int) -> Sequence[tuple[str, int]]:
        query = "SELECT key, seq FROM gone WHERE tbl = %s AND seq > %s ORDER BY seq LIMIT %s"
        return cast("list[tuple[str, int]]", self.run(query, (table, seq, limit)).fetchall())
