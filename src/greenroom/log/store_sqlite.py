"""The log in one SQLite file, through APSW. Only commits and long work leave the caller's thread.

SQLite's WAL publishes a commit to readers after it has synced it, so whatever `rows` shows is on disk.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from greenroom.clock import SystemClock
from greenroom.errors import Unavailable
from greenroom.log import sqlite_rows
from greenroom.log.codec import Codec
from greenroom.log.commit_thread import CommitThread
from greenroom.log.data_directory import FILE, AcknowledgedMark, acquire_directory
from greenroom.log.data_directory import StoreUnusable as StoreUnusable
from greenroom.log.failpoints import failpoint
from greenroom.log.leadership import acquire_lead_alone
from greenroom.log.model import Change, Commit, Noun, Recorded, Table
from greenroom.log.sqlite_file import connect, convert_database_errors
from greenroom.log.sqlite_row_cache import SqliteRowCache
from greenroom.log.sqlite_rows import SqliteRows
from greenroom.log.sqlite_tx import SqliteTx, read_events, read_head
from greenroom.log.store import MOST_EVENT_BYTES

T = TypeVar("T")
APPLICATION_ID = 0x67_72_65_65
SCHEMA = 1
_BUSY_S = 5.0
_READER_CACHE = -4096
"""In KiB, as SQLite takes it."""
MECHANISM = """
CREATE TABLE IF NOT EXISTS events
    (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, by TEXT NOT NULL, type TEXT NOT NULL, v INTEGER NOT NULL,
     data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS commands
    (key TEXT PRIMARY KEY, name TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, at INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chain (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS gone
    (tbl TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tbl, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS gone_seq ON gone (tbl, seq);
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class SqliteSnapshot(SqliteRows):
    """A read transaction: rows and log at one seq."""

    def __init__(self, connection: apsw.Connection, codec: Codec) -> None:
        super().__init__(connection)
        self._codec = codec
        self.seq = 0

    def __enter__(self) -> "SqliteSnapshot":
        self.connection.execute("BEGIN")
        self.seq = read_head(self.connection)
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.execute("COMMIT")

    def all_events(self, after: int = 0) -> Iterator[Recorded]:
        return read_events(self.connection, self._codec, after, 1 << 62)

    def privileged_events(self, after: int) -> Iterator[Recorded]:
        query = "SELECT seq, at, by, type, v, data FROM chain JOIN events USING (seq) WHERE seq > ? ORDER BY seq"
        return (self._codec.decode(*row) for row in self.connection.execute(query, (after,)))

    def gone_since(self, table: str, seq: int, limit: int) -> Sequence[tuple[str, int]]:
        query = "SELECT key, seq FROM gone WHERE tbl = ? AND seq > ? ORDER BY seq LIMIT ?"
        return list(self.connection.execute(query, (table, seq, limit)))


class SqliteStore:
    """The store of one hub. It owns the data directory while it is open."""

    is_shared: bool = False

    def __init__(self, data: Path, nouns: Iterable[Noun]) -> None:
        self.path = data / FILE
        self.codec = Codec(nouns)
        self.tables: tuple[Table[Any], ...] = tuple(table for noun in nouns for table in noun.tables)
        self._lock = acquire_directory(data)
        self._readers = ThreadPoolExecutor(2, "greenroom-read")
        self._idle: list[apsw.Connection] = []
        """Connections that no reader uses at the moment."""
        self._turn = asyncio.Lock()
        self._noted: dict[str, int] = {}
        try:
            with self.convert_database_errors():
                self.writer = connect(self.path, write=True)
                self._verify()
                self.writer.execute(MECHANISM)
                self._reader = connect(self.path)
                self._mark = AcknowledgedMark(data)
                self._mark.need_reached(read_head(self.writer))
                self.path.chmod(0o600)
        except BaseException:
            os.close(self._lock)
            raise
        self._tx = SqliteTx(self.writer, self.codec)
        self._committing = CommitThread(self._commit)
        self.rows = SqliteRowCache(self._reader)

    def convert_database_errors(self) -> AbstractContextManager[None]:
        """Whatever the database cannot do in here makes it unusable, and the message says what to do."""
        return convert_database_errors(self.path)

    def _verify(self) -> None:
        if self.writer.execute("SELECT count(*) FROM sqlite_schema").get == 0:  # new, or died before it held anything
            self.writer.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA}")
            return
        if self.writer.pragma("application_id") != APPLICATION_ID:
            raise StoreUnusable(f"{self.path} is not a Greenroom database; choose another --data directory.")
        found = self.writer.pragma("user_version")
        if found > SCHEMA:
            raise StoreUnusable(
                f"{self.path} was written by a newer greenroom (schema {found}, this one knows {SCHEMA}):"
                " install the newer version, or restore a backup made before the upgrade."
            )

    async def write(self, work: Callable[[SqliteTx], T]) -> tuple[T, tuple[Change, ...]]:
        async with self._turn:
            return await self._write(work)

    async def _write(self, work: Callable[[SqliteTx], T]) -> tuple[T, tuple[Change, ...]]:
        await self._begin()
        try:
            result = work(self._tx)
            if not self._tx.is_long:
                self._tx.finish()
            failpoint("log.before_commit")
            await self._committing.commit()
        except BaseException as error:
            self._rollback()
            if isinstance(error, (apsw.FullError, apsw.IOError)):
                raise Unavailable("storage_full.commit", 5, error=error) from error
            if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
                raise Unavailable("storage_damaged", 60, error=error) from error
            raise
        finally:  # a caller that is cancelled during its commit has changed them all the same
            self.rows.forget(self._tx.touched)
        return result, self._tx.changes()

    async def _begin(self) -> None:
        deadline = asyncio.get_running_loop().time() + _BUSY_S
        while True:
            try:
                self._tx.begin(self._noted, puts_off=True)
                self._noted = {}
                return
            except apsw.BusyError:
                if asyncio.get_running_loop().time() > deadline:
                    raise Unavailable("storage_busy", 5, file=self.path.name) from None
                await asyncio.sleep(0.05)
            except (apsw.FullError, apsw.IOError) as error:
                raise Unavailable("storage_full.disk", 5, error=error) from error

    def _commit(self) -> None:
        self._tx.do_long_work()
        self.writer.execute("COMMIT")
        self._mark.move(self._tx.seq)

    def _rollback(self) -> None:
        self._noted = self._tx.cursors | self._noted
        self._tx.forget()
        with contextlib.suppress(apsw.SQLError):  # SQLite may have rolled back by itself
            self.writer.execute("ROLLBACK")

    async def read(self, work: Callable[[SqliteSnapshot], T]) -> T:
        def run() -> T:
            connection = self._idle.pop() if self._idle else self._connect_reader()
            is_sound = True
            try:
                with SqliteSnapshot(connection, self.codec) as view:
                    return work(view)
            except apsw.Error:
                is_sound = False
                raise
            finally:
                if is_sound:
                    self._idle.append(connection)
                else:
                    connection.close()

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    def _connect_reader(self) -> apsw.Connection:
        connection = connect(self.path)
        connection.pragma("cache_size", _READER_CACHE)
        return connection

    def snapshot(self) -> SqliteSnapshot:
        return SqliteSnapshot(self._reader, self.codec)

    def events(self, after: int, limit: int) -> list[Recorded]:
        return list(read_events(self._reader, self.codec, after, limit, MOST_EVENT_BYTES))

    def head(self) -> int:
        return read_head(self._reader)

    def wall_time(self) -> int:
        return SystemClock().now()

    def cursor(self, name: str) -> int:
        return self._reader.execute("SELECT seq FROM cursors WHERE name = ?", (name,)).get or 0

    def note_cursor(self, name: str, seq: int) -> None:
        self._noted[name] = max(seq, self._noted.get(name, 0))

    async def move_cursor(self, name: str, seq: int) -> None:
        self.note_cursor(name, seq)
        await self.write(lambda _: None)

    async def forget_commands(self, before: int) -> int:
        def forget(tx: SqliteTx) -> int:
            tx.connection.execute("DELETE FROM commands WHERE at < ?", (before,))
            return tx.connection.changes()

        return (await self.write(forget))[0]

    def meta(self, name: str) -> str | None:
        return self._reader.execute("SELECT value FROM meta WHERE name = ?", (name,)).get  # type: ignore[no-any-return]

    def rebuild_rows(self, fill: Callable[[SqliteTx], None], marks: dict[str, str]) -> None:
        """Throw all rows away and let `fill` make them again, in one transaction; used before the hub serves."""
        self._tx.begin({})
        try:
            for statement in [
                *sqlite_rows.build_drop_ddl(self.writer),
                "DELETE FROM gone",
                *sqlite_rows.build_ddl(self.tables),
            ]:
                self.writer.execute(statement)
            self._tx.forget()
            fill(self._tx)
            self._tx.finish()
            for name, value in marks.items():
                self.writer.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
            self._commit()
        except BaseException:
            self._rollback()
            raise
        self._tx.changed = {}
        self.rows.forget(self.tables)

    def subscribe_to_others(self, announce: Callable[[Commit], None]) -> None:
        """There are none."""

    async def listen(self, hub: str) -> None:
        """Nobody else writes, so there is nothing to listen to."""

    def acquire_lead(self, part: str) -> AbstractAsyncContextManager[Callable[[], Coroutine[Any, Any, None]]]:
        return acquire_lead_alone()

    def is_alive(self, hub: str) -> bool:
        return False

    def hubs(self) -> frozenset[int]:
        return frozenset()

    async def close(self) -> None:
        if self._noted:
            with contextlib.suppress(Unavailable):  # then reactors see some events once more
                await self.write(lambda _: None)
        self._committing.close()
        self._readers.shutdown(wait=True)
        for connection in self._idle:
            connection.close()
        self._reader.close()
        self.writer.close()
        self._mark.close()
        os.close(self._lock)
