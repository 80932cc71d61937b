"""Transactions of a log in PostgreSQL: the writer's, under a lock that all hubs share, and consistent views."""

from collections.abc import Iterator, Sequence
from typing import cast

import psycopg

from greenroom.log.chain import GENESIS, Raw, link
from greenroom.log.codec import Codec
from greenroom.log.model import Change, Event, Recorded
from greenroom.log.postgres_row_writer import PostgresRowWriter
from greenroom.log.postgres_rows import Connection, PostgresRows

WRITER_LOCK = 0x67_72_65_65_01
CHANNEL = "greenroom_log"
"""Where the database says that somebody has written, and how far the log has come."""
_EVENT = "SELECT seq, at, by, type, v, data FROM events"


def connect(url: str, *, autocommit: bool = True) -> Connection:
    """A connection that notices when the server is gone."""
    return psycopg.connect(
        url,
        autocommit=autocommit,
        connect_timeout=5,
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        options="-c synchronous_commit=on",
    )


class PostgresTx(PostgresRowWriter):
    """The writer's transaction: events, their rows, command keys, the chain of privileged events, reactors' cursors."""

    def __init__(self, connection: Connection, codec: Codec) -> None:
        super().__init__(connection)
        self._codec = codec
        self._events: list[Raw] = []
        self._links: list[tuple[int, bytes]] = []
        self._commands: dict[str, tuple[str, int, int, int]] = {}
        self.cursors: dict[str, int] = {}

    def begin(self, cursors: dict[str, int]) -> int:
        """Become the writer; returns the seq that the log has come to."""
        self.run("BEGIN")
        self.run("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
        self.changed = {}
        self.cursors = cursors
        self.seq = head_of(self)
        return self.seq

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
        found = self.run("SELECT hash FROM chain ORDER BY seq DESC LIMIT 1").fetchone()
        return found[0] if found else GENESIS

    def known(self, key: str) -> tuple[str, int, int] | None:
        fresh = self._commands.get(key)
        if fresh is not None:
            return fresh[:3]
        found = self.run("SELECT name, first, last FROM commands WHERE key = %s", (_text(key),)).fetchone()
        return cast("tuple[str, int, int] | None", found)

    def remember(self, key: str, name: str, first: int, last: int, at: int) -> None:
        self._commands[key] = (name, first, last, at)

    def records(self, first: int, last: int) -> list[Recorded]:
        self._write_events()
        return list(read_events(self, self._codec, first - 1, last - first + 1))

    def changes(self) -> tuple[Change, ...]:
        return tuple(sorted(self.changed.values(), key=lambda change: change.seq))

    def finish(self) -> None:
        """Write all that has been gathered; the commit is still to come."""
        self.flush()
        self._write_events()
        if self._links:
            self.run_many("INSERT INTO chain (seq, hash) VALUES (%s, %s)", self._links)
            self._links = []
        if self._commands:
            commands = [(_text(key), *values) for key, values in self._commands.items()]
            self.run_many("INSERT INTO commands VALUES (%s, %s, %s, %s, %s)", commands)
            self._commands = {}
        if self.cursors:
            sql = (
                "INSERT INTO cursors VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET seq = greatest(cursors.seq, excluded.seq)"
            )
            self.run_many(sql, self.cursors.items())

    def _write_events(self) -> None:
        if self._events:
            self.run_many("INSERT INTO events VALUES (%s, %s, %s, %s, %s, %s)", self._events)
            self.run("SELECT pg_notify(%s, %s)", (CHANNEL, str(self.seq)))
            self._events = []


def _text(key: str) -> str:
    return key.replace("\0", "\ufffd")


def head_of(rows: PostgresRows) -> int:
    """The newest seq."""
    found = rows.run("SELECT max(seq) FROM events").fetchone()
    return (found and found[0]) or 0


def read_events(rows: PostgresRows, codec: Codec, after: int, limit: int) -> Iterator[Recorded]:
    """Events after a seq, oldest first."""
    found = rows.run(f"{_EVENT} WHERE seq > %s ORDER BY seq LIMIT %s", (after, limit))
    return (codec.decode(*row) for row in found)


class PostgresSnapshot(PostgresRows):
    """A read transaction: rows and log at one seq."""

    def __init__(self, connection: Connection, codec: Codec) -> None:
        super().__init__(connection)
        self._codec = codec
        self.seq = 0

    def __enter__(self) -> "PostgresSnapshot":
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.seq = head_of(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.run("COMMIT")

    def all_events(self, after: int = 0) -> Iterator[Recorded]:
        with self.connection.cursor(name="all_events") as cursor:
            cursor.execute(f"{_EVENT} WHERE seq > %s ORDER BY seq", (after,))
            for row in cursor:
                yield self._codec.decode(*row)

    def gone_since(self, table: str, seq: int) -> Sequence[tuple[str, int]]:
        found = self.run("SELECT key, seq FROM gone WHERE tbl = %s AND seq > %s", (table, seq)).fetchall()
        return cast("list[tuple[str, int]]", found)
