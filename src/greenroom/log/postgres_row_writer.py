"""Writes rows to PostgreSQL: collects them while rules and projections run, then writes each table at once."""

from collections.abc import Iterable, Mapping
from typing import Any

from greenroom.log.codec import encode
from greenroom.log.model import KEY_SEPARATOR, Change, R, Table, Value
from greenroom.log.postgres_connection import Connection
from greenroom.log.postgres_rows import PostgresRows, build_conditions, build_index_text

_REMEMBERED = 4096
_REMEMBERED_BYTES = 16 << 20


class PostgresRowWriter(PostgresRows):
    """Writes rows inside the writer's transaction and keeps count of what changed.

    Rows that are used again and again stay decoded for as long as nobody else has written.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.seq = 0
        self.changed: dict[tuple[str, str], Change] = {}
        """Rows that were written or dropped, the last state of each."""
        self._unwritten: dict[Table[Any], dict[str, tuple[Any, int]]] = {}
        self._remembered: dict[tuple[str, str], Any] = {}
        self._bytes = 0

    def forget(self) -> None:
        """Nothing of this transaction holds, or somebody else has written."""
        self.changed = {}
        self._unwritten = {}
        self._remembered = {}

    def flush(self) -> None:
        """Write pending rows."""
        gathered, self._unwritten = self._unwritten, {}
        for table, rows in gathered.items():
            self._write(table, rows)

    def get(self, table: Table[R], *key: str) -> R | None:
        joined = key[0] if len(key) == 1 else KEY_SEPARATOR.join(key)
        waiting = self._unwritten.get(table, {}).get(joined)
        if waiting is not None:
            return waiting[0]  # type: ignore[no-any-return]
        row = self._remembered.get((table.name, joined))
        if row is None:
            data = self.get_data(table, joined)
            if data is not None:
                row = table.decode(data)
                self._remember(table, joined, row, len(data))
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
        self._unwritten.setdefault(table, {})[table.key_of(row)] = (row, self.seq)

    def drop(self, table: Table[Any], *key: str) -> None:
        self.flush()
        joined = key[0] if len(key) == 1 else KEY_SEPARATOR.join(key)
        self._remembered.pop((table.name, joined), None)
        if self.run(f"DELETE FROM row_{table.name} WHERE key = %s", (joined,)).rowcount == 0:  # noqa: S608
            return
        self.run(
            "INSERT INTO gone (tbl, key, seq) VALUES (%s, %s, %s)"
            " ON CONFLICT (tbl, key) DO UPDATE SET seq = excluded.seq",
            (table.name, joined, self.seq),
        )
        self.changed[table.name, joined] = Change(table, joined, self.seq, None, b"null")

    def drop_all(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        self.flush()
        self._remembered.clear()
        tests, values = build_conditions(where, None, None)
        self.run(f"DELETE FROM row_{table.name} WHERE {' AND '.join(tests)}", values)  # noqa: S608

    def drop_last(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        self.drop_all(table, where)

    def run_many(self, sql: str, values: Iterable[tuple[Any, ...]]) -> None:
        """Carry out a statement once for each of these values."""
        with self.connection.cursor() as cursor:
            cursor.executemany(sql, values)

    def _write(self, table: Table[Any], rows: Mapping[str, tuple[Any, int]]) -> None:
        put = []
        for key, (row, seq) in rows.items():
            data = encode(row)
            self.changed[table.name, key] = Change(table, key, seq, row, data)
            self._remember(table, key, row, len(data))
            words = (build_index_text(getattr(row, table.text)),) if table.text else ()
            put.append((key, seq, data, *[_convert_value(value) for value in table.columns_of(row)], *words))
        columns = ["key", "seq", "data", *[f"c_{c}" for c in table.columns]]
        marks = ["%s"] * len(columns)
        if table.text:
            columns.append("words")
            marks.append("to_tsvector('simple', %s)")
        changed = ", ".join(f"{c} = excluded.{c}" for c in columns[1:])
        self.run_many(
            f"INSERT INTO row_{table.name} ({', '.join(columns)}) VALUES ({', '.join(marks)})"  # noqa: S608
            f" ON CONFLICT (key) DO UPDATE SET {changed}",
            put,
        )

    def _remember(self, table: Table[Any], key: str, row: Any, size: int) -> None:
        self._bytes += size
        if len(self._remembered) >= _REMEMBERED or self._bytes > _REMEMBERED_BYTES:
            self._remembered.clear()
            self._bytes = size
        self._remembered[table.name, key] = row


def _convert_value(value: Value) -> Value:
    """A value as a column takes it: PostgreSQL has no text with a NUL in it."""
    if isinstance(value, bool):
        return int(value)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value
