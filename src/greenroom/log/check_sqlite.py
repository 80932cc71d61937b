"""Verifies a log in SQLite on one snapshot of its file."""

import contextlib
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import apsw
import msgspec

from greenroom.log.check import REBUILD, RESTORE, Check, CheckReport, Progress
from greenroom.log.data_directory import FILES, need_database, read_acknowledged_seq
from greenroom.log.model import Noun, Table
from greenroom.log.sqlite_file import connect
from greenroom.log.sqlite_text_index import SqliteTextIndex
from greenroom.log.store_sqlite import (
    APPLICATION_ID,
    SCHEMA,
)

_DAMAGE_SHOWN = 5
_DAMAGED_SCHEMA = """
SELECT name FROM sqlite_schema WHERE typeof(type) != 'text' OR typeof(name) != 'text' OR typeof(tbl_name) != 'text'
OR typeof(sql) NOT IN ('text', 'null') OR tbl_name NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table')
"""
"""What SQLite itself takes for granted: every entry is a text and belongs to a table."""


def check_sqlite(data: Path, nouns: Sequence[Noun], progress: Progress | None = None) -> CheckReport:
    """Verify the log, its rows and its files on one snapshot; nothing is written."""
    return SqliteCheck(data, nouns, progress or (lambda what, done, of: None)).run()


class SqliteCheck(Check):
    """The check of a log in a SQLite file."""

    def __init__(self, data: Path, nouns: Sequence[Noun], progress: Progress) -> None:
        self._path = need_database(data)
        reached = read_acknowledged_seq(data)  # before the snapshot, which then is at least as far
        super().__init__(nouns, data / FILES, progress, reached)

    def run(self) -> CheckReport:
        try:
            with contextlib.closing(connect(self._path)) as connection:
                connection.execute("BEGIN")
                self._check_all(connection)
        except (apsw.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._find("database_damaged", f"The database cannot be read on ({error}). {RESTORE}")
        return self._checked

    def _is_ours(self, connection: apsw.Connection) -> bool:
        found: int = connection.pragma("user_version")
        if connection.pragma("application_id") != APPLICATION_ID:
            self._find("not_greenroom", f"{self._path} is not a Greenroom database: choose another --data directory.")
        elif found > SCHEMA:
            self._find(
                "newer_schema",
                f"The database was written by a newer greenroom (schema {found}, this one knows {SCHEMA}):"
                " check it with that version.",
            )
        else:
            return True
        return False

    def _check_pages(self, connection: apsw.Connection) -> None:
        self._progress("pages", 0, 1)
        told = [text for (text,) in connection.execute(f"PRAGMA integrity_check({_DAMAGE_SHOWN})")]
        told += [f"{name!r} in the schema" for (name,) in connection.execute(_DAMAGED_SCHEMA)]
        if told != ["ok"]:
            self._find("database_damaged", f"SQLite finds damage: {'; '.join(told)}. {RESTORE}")
        self._progress("pages", 1, 1)

    def _compare_text(self, table: Table[Any], connection: apsw.Connection, scratch: apsw.Connection) -> None:
        """Every word of the full-text index with the number of its rows, and how many rows there are of each length."""
        name = f"text_{table.name}"
        SqliteTextIndex(scratch, table).leave_out(SqliteTextIndex(connection, table).find_waiting())
        for each in (connection, scratch):
            each.execute(f"CREATE VIRTUAL TABLE temp.words_{name} USING fts5vocab(main, '{name}', 'row')")
        # As bytes: the index cuts a very long word without looking where a character ends.
        query = f"SELECT CAST(term AS BLOB), doc, cnt FROM temp.words_{name} ORDER BY term"  # noqa: S608
        lengths = f"SELECT sz, count(*) FROM {name}_docsize GROUP BY sz ORDER BY sz"  # noqa: S608
        for found, made in zip_longest(connection.execute(query), scratch.execute(query)):
            if found != made:
                word = (found or made)[0].decode(errors="replace")
                self._find(
                    "search_differs",
                    f"The word {word!r} is not indexed in {table.name} as the log makes it. {REBUILD}",
                )
                return
        if connection.execute(lengths).fetchall() != scratch.execute(lengths).fetchall():
            self._find("search_differs", f"The index of {table.name} has not the rows that the log makes. {REBUILD}")

    def _find_named_files(self, connection: apsw.Connection) -> set[str]:
        return find_named_files(connection, self._tables)

    def _find_files_named_now(self) -> set[str]:
        with contextlib.closing(connect(self._path)) as connection:
            return find_named_files(connection, self._tables)


def find_named_files(connection: apsw.Connection, tables: Iterable[Table[Any]]) -> set[str]:
    """The payload files that rows name, also rows that another version of the program has made."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return {
        name
        for table in tables
        if table.file and f"row_{table.name}" in there
        for (data,) in connection.execute(f"SELECT data FROM row_{table.name}")  # noqa: S608 the table is ours
        if (name := msgspec.json.decode(data).get(table.file)) is not None
    }
