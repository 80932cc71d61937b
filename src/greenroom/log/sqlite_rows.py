"""Rows in SQLite: one SQL table for each table of a noun, with the indexed fields beside the encoded row."""

from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from greenroom.log.model import KEY_SEPARATOR, R, Table, Value
from greenroom.log.sqlite_text_index import SqliteTextIndex, build_index_ddl


def build_ddl(tables: Iterable[Table[Any]]) -> list[str]:
    """The statements that make the tables."""
    out = []
    for table in tables:
        name = f"row_{table.name}"
        columns = "".join(f", c_{c} {_choose_affinity(table, c)}" for c in table.columns)
        out.append(
            f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL,"
            f" data BLOB NOT NULL{columns})"
        )
        for number, index in enumerate(table.indexes):
            fields = ", ".join("seq" if c == "_seq" else f"c_{c}" for c in index)
            out.append(f"CREATE INDEX {name}_{number} ON {name} ({fields})")
        if table.text:
            out.append(build_index_ddl(table))
    return out


def build_drop_ddl(connection: apsw.Connection) -> list[str]:
    """The statements that throw all rows away."""
    kinds = "name LIKE 'row\\_%' ESCAPE '\\' OR (name LIKE 'text\\_%' ESCAPE '\\' AND sql LIKE 'CREATE VIRTUAL%')"
    query = f"SELECT name FROM sqlite_schema WHERE type = 'table' AND ({kinds})"  # noqa: S608 a constant
    return [f"DROP TABLE {name}" for (name,) in connection.execute(query)]


def _choose_affinity(table: Table[Any], column: str) -> str:
    return "INTEGER" if table.is_number(column) else "TEXT"


class SqliteRows:
    """Reads rows through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._sql: dict[tuple[Any, ...], str] = {}

    def get(self, table: Table[R], *key: str) -> R | None:
        found = self.get_data(table, *key)
        return None if found is None else table.decode(found)

    def get_data(self, table: Table[Any], *key: str) -> bytes | None:
        """A row as it is stored."""
        return self.connection.execute(  # type: ignore[no-any-return]
            f"SELECT data FROM row_{table.name} WHERE key = ?",  # noqa: S608 the table is ours
            (key[0] if len(key) == 1 else KEY_SEPARATOR.join(key),),
        ).get

    def find(self, table: Table[R], where: Mapping[str, Value] | None = None, **how: Any) -> list[R]:
        return [table.decode(data) for data in self.find_data(table, where, **how)]

    def find_data(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
        order: str | None = None,
        desc: bool = False,
        limit: int | None = None,
        most_bytes: int | None = None,
    ) -> list[bytes]:
        """The rows of `find` as they are stored."""
        sql, values = self._select(table, "data", where, after, before)
        if order:
            sql += f" ORDER BY {build_column_name(order)}{' DESC' if desc else ''}"
        if limit is not None:
            sql += " LIMIT ?"
            values.append(limit)
        return take_bytes(self.connection.execute(sql, values), most_bytes)

    def count(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
    ) -> int:
        sql, values = self._select(table, "count(*)", where, after, before)
        return int(self.connection.execute(sql, values).get)

    def search(
        self, table: Table[R], words: str, where: Mapping[str, Value] | None = None, *, limit: int = 50
    ) -> list[R]:
        columns = {build_column_name(name): value for name, value in (where or {}).items()}
        return [table.decode(data) for data in SqliteTextIndex(self.connection, table).search(words, columns, limit)]

    def _select(
        self,
        table: Table[Any],
        what: str,
        where: Mapping[str, Value] | None,
        after: tuple[str, Value] | None,
        before: tuple[str, Value] | None,
    ) -> tuple[str, list[Value]]:
        shape = (table.name, what, tuple(where or ()), after and after[0], before and before[0])
        sql = self._sql.get(shape)
        if sql is None:
            tests = [f"{build_column_name(name)} IS ?" for name in where or {}]
            if after:
                tests.append(f"{build_column_name(after[0])} > ?")
            if before:
                tests.append(f"{build_column_name(before[0])} < ?")
            sql = f"SELECT {what} FROM row_{table.name}"  # noqa: S608 names are declared by nouns
            if tests:
                sql += " WHERE " + " AND ".join(tests)
            self._sql[shape] = sql
        values: list[Value] = list((where or {}).values())
        values += [bound[1] for bound in (after, before) if bound]
        return sql, values


def take_bytes(found: Iterable[tuple[Any, ...]], most_bytes: int | None) -> list[bytes]:
    """The data of rows, up to the one that makes it more than so many bytes."""
    if most_bytes is None:
        return [data for (data,) in found]
    taken: list[bytes] = []
    left = most_bytes
    for (data,) in found:
        taken.append(data)
        left -= len(data)
        if left < 0:
            break
    return taken


def build_column_name(name: str) -> str:
    """The SQL column of a field."""
    return "seq" if name == "_seq" else "key" if name == "_key" else f"c_{name}"
