"""Rows in PostgreSQL: one SQL table for each table of a noun, with the indexed fields beside the encoded row."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from greenroom.accents import decompose
from greenroom.log.model import KEY_SEPARATOR, R, Table, Value
from greenroom.log.postgres_connection import Connection
from greenroom.log.sqlite_rows import build_column_name, take_bytes
from greenroom.log.sqlite_text_index import normalize_text, split_phrases


def build_ddl(tables: Iterable[Table[Any]]) -> list[str]:
    """The statements that make the tables. Texts compare by their bytes, as they do in SQLite."""
    out = []
    for table in tables:
        name = f"row_{table.name}"
        columns = "".join(f", c_{c} {_choose_column_type(table, c)}" for c in table.columns)
        words = ", words TSVECTOR" if table.text else ""
        out.append(
            f'CREATE TABLE {name} (key TEXT COLLATE "C" PRIMARY KEY, seq BIGINT NOT NULL, data BYTEA NOT NULL'
            f"{columns}{words})"
        )
        for number, index in enumerate(dict.fromkeys([("_seq",), *table.indexes])):
            fields = ", ".join(build_column_name(c) for c in index)
            out.append(f"CREATE INDEX {name}_{number} ON {name} ({fields})")
        if table.text:
            out.append(f"CREATE INDEX {name}_words ON {name} USING gin (words)")
    return out


def build_drop_ddl(connection: Connection) -> list[str]:
    """The statements that throw all rows away."""
    query = (
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'row\\_%' ESCAPE '\\'"
    )
    return [f"DROP TABLE {name}" for (name,) in connection.execute(query)]


def _choose_column_type(table: Table[Any], column: str) -> str:
    return "BIGINT" if table.is_number(column) else 'TEXT COLLATE "C"'


def build_index_text(text: str) -> str:
    """Text as the index takes it: words without accents, each character of Chinese, Japanese or Korean by itself."""
    parts = decompose(normalize_text(text).replace("\0", " "))
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))


class PostgresRows:
    """Reads rows through one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def run(self, sql: str, values: Iterable[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        """Carry out a statement; names in it are declared by nouns, values are always bound."""
        bound = tuple(values)
        return self.connection.execute(sql, bound or None)

    def get(self, table: Table[R], *key: str) -> R | None:
        data = self.get_data(table, *key)
        return None if data is None else table.decode(data)

    def get_data(self, table: Table[Any], *key: str) -> bytes | None:
        """A row as it is stored."""
        joined = key[0] if len(key) == 1 else KEY_SEPARATOR.join(key)
        found = self.run(f"SELECT data FROM row_{table.name} WHERE key = %s", (joined,)).fetchone()  # noqa: S608
        return None if found is None else found[0]

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
            sql += f" ORDER BY {build_column_name(order)}{' DESC NULLS LAST' if desc else ' NULLS FIRST'}"
        if limit is not None:
            sql += " LIMIT %s"
            values.append(limit)
        return take_bytes(self.run(sql, values), most_bytes)

    def count(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
    ) -> int:
        sql, values = self._select(table, "count(*)", where, after, before)
        found = self.run(sql, values).fetchone()
        return int(found[0]) if found else 0

    def search(
        self, table: Table[R], words: str, where: Mapping[str, Value] | None = None, *, limit: int = 50
    ) -> list[R]:
        phrases = [phrase for word in split_phrases(words) if (phrase := build_index_text(word).strip())]
        if not phrases:
            return []
        query = " && ".join(["phraseto_tsquery('simple', %s)"] * len(phrases))
        tests, values = build_conditions(where, None, None)
        sql = (
            f"SELECT data FROM row_{table.name}, (SELECT {query} AS wanted) AS q"  # noqa: S608
            f" WHERE {' AND '.join(['words @@ wanted', *tests])} ORDER BY ts_rank(words, wanted) DESC, seq LIMIT %s"
        )
        return [table.decode(data) for (data,) in self.run(sql, [*phrases, *values, limit])]

    def _select(
        self,
        table: Table[Any],
        what: str,
        where: Mapping[str, Value] | None,
        after: tuple[str, Value] | None,
        before: tuple[str, Value] | None,
    ) -> tuple[str, list[Any]]:
        tests, values = build_conditions(where, after, before)
        sql = f"SELECT {what} FROM row_{table.name}"  # noqa: S608 names are declared by nouns
        return (f"{sql} WHERE {' AND '.join(tests)}" if tests else sql), values


def build_conditions(
    where: Mapping[str, Value] | None, after: tuple[str, Value] | None, before: tuple[str, Value] | None
) -> tuple[list[str], list[Any]]:
    """Conditions that an index can answer: nothing is compared with NULL by `=`."""
    tests: list[str] = []
    values: list[Any] = []
    for name, value in (where or {}).items():
        if value is None:
            tests.append(f"{build_column_name(name)} IS NULL")
        else:
            tests.append(f"{build_column_name(name)} = %s")
            values.append(int(value) if isinstance(value, bool) else value)
    for bound, sign in ((after, ">"), (before, "<")):
        if bound:
            tests.append(f"{build_column_name(bound[0])} {sign} %s")
            values.append(bound[1])
    return tests, values
