"""Verifies a log in PostgreSQL: the same walk through its events, on one snapshot of the database."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from greenroom.log.check import Check, CheckReport, Progress
from greenroom.log.data_directory import FILES, StoreUnusable
from greenroom.log.model import Noun, Table
from greenroom.log.postgres_connection import connect
from greenroom.log.store_postgres import SCHEMA

_SERVER_SIDE = 2000


def check_postgres(data: Path, url: str, nouns: Sequence[Noun], progress: Progress | None = None) -> CheckReport:
    """Verify the log, its rows and its files on one snapshot; nothing is written."""
    return PostgresCheck(data, url, nouns, progress or (lambda what, done, of: None)).run()


class QueryResult:
    """What a question to the database brought: rows one by one, or the first value."""

    def __init__(self, rows: Generator[tuple[Any, ...], None, None]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def __next__(self) -> tuple[Any, ...]:
        return next(self._rows)

    @property
    def get(self) -> Any:
        first = next(self._rows, None)
        self._rows.close()
        return first and first[0]


class QmarkConnection:
    """A snapshot that takes the questions of the check, which are plain SQL with `?` for a value."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        self._connection = connection
        self._asked = 0

    def execute(self, sql: str, values: Sequence[Any] = ()) -> QueryResult:
        self._asked += 1
        return QueryResult(self._rows(f"check_{self._asked}", sql.replace("?", "%s"), tuple(values)))

    def _rows(self, name: str, sql: str, values: tuple[Any, ...]) -> Generator[tuple[Any, ...], None, None]:
        with self._connection.cursor(name=name) as cursor:
            cursor.itersize = _SERVER_SIDE
            cursor.execute(sql, values or None)
            yield from cursor


class PostgresCheck(Check):
    """One check under way. Damage of pages and of the search index is the database's own concern."""

    def __init__(self, data: Path, url: str, nouns: Sequence[Noun], progress: Progress) -> None:
        super().__init__(nouns, data / FILES, progress)
        self._url = url

    def run(self) -> CheckReport:
        try:
            with connect(self._url) as connection, connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                self._check_all(QmarkConnection(connection))
        except psycopg.OperationalError as error:  # it is away, which is no damage
            raise StoreUnusable(
                f"The PostgreSQL database cannot be read ({error}): see that the server runs and that `database` in the"
                " settings names it."
            ) from error
        except (psycopg.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._find("database_damaged", f"The database cannot be read on ({error}).")
        return self._checked

    def _is_ours(self, connection: Any) -> bool:
        found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").get
        if found is None or int(found) > SCHEMA:
            self._find("newer_schema", f"The database has schema {found}, this program knows {SCHEMA}.")
            return False
        return True

    def _check_pages(self, connection: Any) -> None:
        self._progress("pages", 1, 1)

    def _compare_text(self, table: Table[Any], connection: Any, scratch: Any) -> None:
        return

    def _find_named_files(self, connection: Any) -> set[str]:
        return {
            name
            for table in self._tables
            if table.file
            for (data,) in connection.execute(f"SELECT data FROM row_{table.name}")  # noqa: S608 the table is ours
            if (name := msgspec.json.decode(data).get(table.file)) is not None
        }

    def _find_files_named_now(self) -> set[str]:
        with connect(self._url) as connection, connection.transaction():
            return self._find_named_files(QmarkConnection(connection))
