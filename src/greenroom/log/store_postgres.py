"""The log in PostgreSQL, shared by several hubs: the writer holds a lock, so that no reader sees a gap in seq.

A number taken from a sequence shows in the order of taking, not of committing, and a reader that goes by it misses
rows. Here the next seq is read and used under one lock that lasts until the commit.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from greenroom.errors import Unavailable
from greenroom.log import postgres_rows
from greenroom.log.codec import Codec
from greenroom.log.data_directory import StoreUnusable, acquire_directory
from greenroom.log.failpoints import failpoint
from greenroom.log.model import Change, Commit, Noun, Recorded, Table
from greenroom.log.postgres_connection import LOST, connect, make_unreachable_error
from greenroom.log.postgres_hubs import (
    RETRY_S,
    acquire_lead,
    find_hubs,
    is_registered,
    open_held_connection,
    register_hub,
)
from greenroom.log.postgres_row_reader import PostgresRowReader
from greenroom.log.postgres_tx import CHANNEL, WRITER_LOCK, PostgresSnapshot, PostgresTx, read_events, read_head
from greenroom.log.store import MOST_EVENT_BYTES

T = TypeVar("T")
SCHEMA = 1
_MECHANISM = """
CREATE TABLE IF NOT EXISTS events
    (seq BIGINT PRIMARY KEY, at BIGINT NOT NULL, by TEXT NOT NULL, type TEXT NOT NULL, v INTEGER NOT NULL,
     data BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS commands
    (key TEXT COLLATE "C" PRIMARY KEY, name TEXT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL,
     at BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS chain (seq BIGINT PRIMARY KEY, hash BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS gone
    (tbl TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (tbl, key));
CREATE INDEX IF NOT EXISTS gone_seq ON gone (seq);
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, seq BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


def _build_changes_query(tables: Iterable[Table[Any]]) -> str:
    """One question for the rows of all tables that were put or dropped after a seq and up to another."""
    span = "seq > %s AND seq <= %s"
    put = [f"SELECT '{table.name}', key, seq, data FROM row_{table.name} WHERE {span}" for table in tables]  # noqa: S608
    return " UNION ALL ".join([*put, f"SELECT tbl, key, seq, NULL FROM gone WHERE {span}"])  # noqa: S608


class PostgresStore:
    """The store of one hub among several on the same database; the data directory is its own."""

    is_shared: bool = True

    def __init__(self, data: Path, url: str, nouns: Iterable[Noun]) -> None:
        self._url = url
        self.codec = Codec(nouns)
        self.tables: tuple[Table[Any], ...] = tuple(table for noun in nouns for table in noun.tables)
        self._by_name = {table.name: table for table in self.tables}
        self._changed_between = _build_changes_query(self.tables)
        self._lock = acquire_directory(data)
        self._threads = ThreadPoolExecutor(1, "greenroom-commit")
        self._readers = ThreadPoolExecutor(2, "greenroom-read")
        self._turn = asyncio.Lock()
        self._noted: dict[str, int] = {}
        self._others: Callable[[Commit], None] = lambda commit: None
        try:
            with self.convert_database_errors():
                self._tx = PostgresTx(connect(url), self.codec)
                self.rows = PostgresRowReader(url)
                self._prepare()
        except BaseException:
            os.close(self._lock)
            raise
        self._seen = read_head(self.rows)

    @contextlib.contextmanager
    def convert_database_errors(self) -> Iterator[None]:
        """Whatever the database cannot do in here makes it unusable, and the message says what to do."""
        try:
            yield
        except psycopg.Error as error:
            raise StoreUnusable(
                f"The PostgreSQL database cannot be used ({error}): see that the server runs and that `database` in the"
                " settings names it, with a role that may create tables."
            ) from error

    def _prepare(self) -> None:
        self._tx.run("BEGIN")
        self._tx.run("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
        self._tx.run(_MECHANISM)
        found = self._tx.run("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if found is not None and int(found[0]) > SCHEMA:
            raise StoreUnusable(
                f"The database was written by a newer greenroom (schema {found[0]}, this one knows {SCHEMA}):"
                " install the newer version."
            )
        self._tx.run("INSERT INTO meta VALUES ('schema', %s) ON CONFLICT (name) DO NOTHING", (str(SCHEMA),))
        self._tx.run("COMMIT")

    async def write(self, work: Callable[[PostgresTx], T]) -> tuple[T, tuple[Change, ...]]:
        async with self._turn:
            try:
                if self._tx.connection.closed:
                    self._tx = PostgresTx(await self._in_thread(lambda: connect(self._url)), self.codec)
                return await self._write(work)
            except LOST as error:
                with contextlib.suppress(psycopg.Error):
                    self._tx.connection.close()
                raise make_unreachable_error(error) from error

    async def _write(self, work: Callable[[PostgresTx], T]) -> tuple[T, tuple[Change, ...]]:
        noted, self._noted = self._noted, {}
        try:
            head = await self._in_thread(lambda: self._tx.begin(noted))
            if head > self._seen:
                self._tx.forget()
                self._announce_others(head)
            result = work(self._tx)
            self._tx.finish()
            failpoint("log.before_commit")
            await self._in_thread(lambda: self._tx.run("COMMIT"))
        except BaseException:
            self._noted = noted | self._noted
            self._tx.forget()
            with contextlib.suppress(*LOST):
                self._tx.run("ROLLBACK")
            raise
        self._seen = self._tx.seq
        return result, self._tx.changes()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Wait in a thread. A cancelled caller still waits for the end, because nobody else could."""
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            await asyncio.wait([working])
            working.exception()  # whoever is cancelled does not ask for it
            raise

    def subscribe_to_others(self, announce: Callable[[Commit], None]) -> None:
        """Have what other hubs commit announced here, each commit once and in its place among our own."""
        self._others = announce

    async def listen(self, hub: str) -> None:
        """Be on the database under this name, and look at what other hubs commit; to be run as a task."""
        while True:
            try:
                await self._listen(hub)
            except (*LOST, Unavailable):
                await asyncio.sleep(RETRY_S)

    async def _listen(self, hub: str) -> None:
        async with open_held_connection(self._url) as connection:
            await register_hub(connection, hub)
            await connection.execute(f"LISTEN {CHANNEL}")
            await self._look_at_others()
            async for notice in connection.notifies():
                if int(notice.payload) > self._seen:
                    await self._look_at_others()

    async def _look_at_others(self) -> None:
        async with self._turn:
            head = read_head(self.rows)
            if head > self._seen:
                self._announce_others(head)

    def _announce_others(self, head: int) -> None:
        """Announce the commits between the last seen seq and one that is committed."""
        records = list(read_events(self.rows, self.codec, self._seen, head - self._seen))
        changes: list[Change] = []
        span = (self._seen, head) * (len(self.tables) + 1)
        for name, key, seq, data in self.rows.run(self._changed_between, span):
            table = self._by_name[name]
            if data is not None:
                changes.append(Change(table, key, seq, table.decode(data), bytes(data)))
            elif self.rows.get(table, key) is None:
                changes.append(Change(table, key, seq, None, b"null"))
        self._seen = head
        self._tx.forget()
        changes.sort(key=lambda change: change.seq)
        self._others(Commit(head, tuple(records), tuple(changes), frozenset(change.table for change in changes)))

    def acquire_lead(
        self, part: str
    ) -> contextlib.AbstractAsyncContextManager[Callable[[], Coroutine[Any, Any, None]]]:
        """Wait until this hub is the one that sees to a part of the work; yields what waits until it is so no more."""
        return acquire_lead(self._url, part)

    def is_alive(self, hub: str) -> bool:
        """Whether the hub of this name is on the database at the moment."""
        return is_registered(self.rows, hub)

    def hubs(self) -> frozenset[int]:
        """The hubs that are on the database at the moment, with a number each."""
        return find_hubs(self.rows)

    async def read(self, work: Callable[[PostgresSnapshot], T]) -> T:
        def run() -> T:
            try:
                with connect(self._url) as connection, PostgresSnapshot(connection, self.codec) as view:
                    return work(view)
            except LOST as error:
                raise make_unreachable_error(error) from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    def snapshot(self) -> PostgresSnapshot:
        self.rows.run("SELECT 1")  # a connection that was lost is made again here
        return PostgresSnapshot(self.rows.connection, self.codec)

    def events(self, after: int, limit: int) -> list[Recorded]:
        return list(read_events(self.rows, self.codec, after, limit, MOST_EVENT_BYTES))

    def head(self) -> int:
        return read_head(self.rows)

    def wall_time(self) -> int:
        found = self.rows.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").fetchone()
        return int(found[0]) if found else 0

    def cursor(self, name: str) -> int:
        found = self.rows.run("SELECT seq FROM cursors WHERE name = %s", (name,)).fetchone()
        return found[0] if found else 0

    def note_cursor(self, name: str, seq: int) -> None:
        self._noted[name] = max(seq, self._noted.get(name, 0))

    async def move_cursor(self, name: str, seq: int) -> None:
        self.note_cursor(name, seq)
        await self.write(lambda _: None)

    async def forget_commands(self, before: int) -> int:
        return (await self.write(lambda tx: tx.run("DELETE FROM commands WHERE at < %s", (before,)).rowcount))[0]

    def meta(self, name: str) -> str | None:
        found = self.rows.run("SELECT value FROM meta WHERE name = %s", (name,)).fetchone()
        return found[0] if found else None

    def rebuild_rows(self, fill: Callable[[PostgresTx], None], marks: dict[str, str]) -> None:
        """Throw all rows away and let `fill` make them again, in one transaction; used before the hub serves."""
        self._tx.begin({})
        try:
            for statement in [
                *postgres_rows.build_drop_ddl(self._tx.connection),
                "DELETE FROM gone",
                *postgres_rows.build_ddl(self.tables),
            ]:
                self._tx.run(statement)
            self._tx.forget()
            fill(self._tx)
            self._tx.finish()
            for name, value in marks.items():
                sql = "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
                self._tx.run(sql, (name, value))
            self._tx.run("COMMIT")
        except BaseException:
            self._tx.forget()
            self._tx.run("ROLLBACK")
            raise

    async def close(self) -> None:
        """Finish the work in progress and close the connections."""
        async with self._turn:
            self._threads.shutdown()
            self._readers.shutdown()
            self._tx.connection.close()
            self.rows.close()
            os.close(self._lock)
