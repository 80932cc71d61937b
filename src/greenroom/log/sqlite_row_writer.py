"""Writes rows to SQLite: collects them while rules and projections run, then writes each table at once."""

from collections.abc import Mapping
from typing import Any

import apsw
import msgspec

from greenroom.log.codec import encode
from greenroom.log.model import KEY_SEPARATOR, Change, R, Row, Table, Value
from greenroom.log.sqlite_rows import SqliteRows, build_column_name
from greenroom.log.sqlite_text_index import WAITING, SqliteTextIndex

_REMEMBERED = 4096
_REMEMBERED_BYTES = 2048


class PendingRow(msgspec.Struct, frozen=True):
    """A row on its way. It is `light` when SQL holds it already and all that it is found by stays the same."""

    row: Any
    seq: int
    light: bool


class TableBuffer:
    """One table for the writer: pending rows, recently used rows, and its statements."""

    def __init__(self, table: Table[Any]) -> None:
        self.table = table
        self.unwritten: dict[str, PendingRow] = {}
        self.remembered: dict[str, Any] = {}
        self._read_bytes = 0
        name, columns = f"row_{table.name}", ["key", "seq", "data", *[f"c_{c}" for c in table.columns]]
        changed = ", ".join(f"{c} = excluded.{c}" for c in columns[1:])
        self.put_sql = (
            f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
            f" ON CONFLICT (key) DO UPDATE SET {changed}"
        )
        self.change_sql = f"UPDATE {name} SET seq = ?, data = ? WHERE key = ?"  # noqa: S608
        self.last_sql = f"SELECT max(id) FROM {name}"  # noqa: S608

    def is_light(self, key: str, row: Row) -> bool:
        """Whether a row can be changed in place, without a look at any index."""
        before = self.unwritten.get(key)
        known = self.remembered.get(key) if before is None else before.row if before.light else None
        return known is not None and self.table.found_by(known) == self.table.found_by(row)

    def remember(self, key: str, row: Row, read_bytes: int = 0) -> None:
        """Keep a row at hand. Those that were read may be long, so that their bytes count."""
        self._read_bytes += read_bytes
        if len(self.remembered) >= _REMEMBERED or self._read_bytes > _REMEMBERED * _REMEMBERED_BYTES:
            self.remembered.clear()
            self._read_bytes = read_bytes
        self.remembered[key] = row


class TableBuffers(dict[Table[Any], TableBuffer]):
    """The buffer of each table, made when it is first asked for."""

    def __missing__(self, table: Table[Any]) -> TableBuffer:
        buffer = self[table] = TableBuffer(table)
        return buffer


class SqliteRowWriter(SqliteRows):
    """Writes rows inside the writer's transaction and keeps count of what changed.

    A row that changes many times in one transaction is encoded and written once, when it is first needed in SQL. Rows
    that are used again and again stay decoded: this connection is the only writer, so what it remembers is true.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.seq = 0
        self.changed: dict[tuple[str, str], Change] = {}
        """Rows that were written or dropped, the last state of each."""
        self.touched: set[Table[Any]] = set()
        """The tables that were written to."""
        self._shelves = TableBuffers()

    def forget(self) -> None:
        """Nothing of this transaction holds."""
        self.changed = {}
        self._shelves = TableBuffers()

    def flush(self) -> None:
        """Write pending rows."""
        for shelf in self._shelves.values():
            if shelf.unwritten:
                self._write(shelf)

    def get(self, table: Table[R], *key: str) -> R | None:
        joined = key[0] if len(key) == 1 else KEY_SEPARATOR.join(key)
        shelf = self._shelves[table]
        waiting = shelf.unwritten.get(joined)
        if waiting is not None:
            return waiting.row  # type: ignore[no-any-return]
        row = shelf.remembered.get(joined)
        if row is None:
            data = self.get_data(table, joined)
            if data is not None:
                row = table.decode(data)
                shelf.remember(joined, row, len(data))
        return row

    def find(self, table: Table[R], where: Mapping[str, Value] | None = None, **how: Any) -> list[R]:
        self.flush()
        return super().find(table, where, **how)

    def count(self, table: Table[Any], where: Mapping[str, Value] | None = None, **how: Any) -> int:
        self.flush()
        return super().count(table, where, **how)

    def search(self, table: Table[R], words: str, where: Mapping[str, Value] | None = None, **how: Any) -> list[R]:
        self.flush()
        return super().search(table, words, where, **how)

    def put(self, table: Table[R], row: R) -> None:
        shelf, key = self._shelves[table], table.key_of(row)
        shelf.unwritten[key] = PendingRow(row, self.seq, shelf.is_light(key, row))

    def drop(self, table: Table[Any], *key: str) -> None:
        self.flush()
        self.touched.add(table)
        joined = key[0] if len(key) == 1 else KEY_SEPARATOR.join(key)
        self._shelves[table].remembered.pop(joined, None)
        found = self.connection.execute(
            f"DELETE FROM row_{table.name} WHERE key = ? RETURNING id",  # noqa: S608
            (joined,),
        ).get
        if found is None:
            return
        if table.text and found <= SqliteTextIndex(self.connection, table).read_last_number():
            self.connection.execute(f"DELETE FROM text_{table.name} WHERE rowid = ?", (found,))  # noqa: S608
        self.connection.execute(
            "INSERT OR REPLACE INTO gone (tbl, key, seq) VALUES (?, ?, ?)", (table.name, joined, self.seq)
        )
        self.changed[table.name, joined] = Change(table, joined, self.seq, None, b"null")

    def drop_all(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        self.flush()
        self.touched.add(table)
        self._shelves[table].remembered.clear()
        tests = " AND ".join(f"{build_column_name(name)} IS ?" for name in where)
        values = list(where.values())
        if table.text:
            self.connection.execute(
                f"DELETE FROM text_{table.name} WHERE rowid IN"  # noqa: S608
                f" (SELECT id FROM row_{table.name} WHERE {tests} AND id <= ?)",
                [*values, SqliteTextIndex(self.connection, table).read_last_number()],
            )
        self.connection.execute(f"DELETE FROM row_{table.name} WHERE {tests}", values)  # noqa: S608

    def drop_last(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        self.drop_all(table, where)

    def _write(self, shelf: TableBuffer) -> None:
        """Write the rows that wait on a shelf: first those that are only changed, then the others."""
        table, name = shelf.table, shelf.table.name
        self.touched.add(table)
        unwritten, shelf.unwritten = shelf.unwritten, {}
        changed, put = [], []
        for key, one in unwritten.items():
            row, seq = one.row, one.seq
            data = encode(row)
            self.changed[name, key] = Change(table, key, seq, row, data)
            if len(data) <= _REMEMBERED_BYTES:
                shelf.remember(key, row)
            else:
                shelf.remembered.pop(key, None)
            if one.light:
                changed.append((seq, data, key))
                continue
            put.append((key, seq, data, *table.columns_of(row)))
        if changed:
            self.connection.executemany(shelf.change_sql, changed)
        if put and table.text:
            self._write_words(shelf, put)
        elif put:
            self.connection.executemany(shelf.put_sql, put)

    def _write_words(self, shelf: TableBuffer, put: list[tuple[Any, ...]]) -> None:
        """Write searchable rows, and update the index: at once for changed rows, else now and then."""
        words = SqliteTextIndex(self.connection, shelf.table)
        before = self.connection.execute(shelf.last_sql).get or 0
        self.connection.executemany(shelf.put_sql, put)
        last = self.connection.execute(shelf.last_sql).get
        if last - before < len(put):  # the others have the numbers that they had
            words.reindex_rows([row[0] for row in put])
        if last - words.read_last_number() >= WAITING:
            self.index_words(words)

    def index_words(self, words: SqliteTextIndex) -> None:
        """Put what waits into the index."""
        words.catch_up()
