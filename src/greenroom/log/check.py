"""Verifies what must be true of a log, its rows and its files, also while the hub runs, whatever database has them."""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import apsw
import msgspec

from greenroom.log import sqlite_rows
from greenroom.log.blobs import build_blob_path
from greenroom.log.chain import GENESIS, Chain
from greenroom.log.codec import Codec
from greenroom.log.model import Noun, Table
from greenroom.log.rebuild import MARK, build_projector, compute_fingerprint
from greenroom.log.sqlite_row_writer import SqliteRowWriter
from greenroom.log.store_sqlite import (
    MECHANISM,
)

Progress = Callable[[str, int, int], None]
RESTORE = "Restore the newest good backup with `greenroom restore`."
REBUILD = "Stop the hub and rebuild the rows with `greenroom check --rebuild`."
_BATCH = 1000


@dataclass(frozen=True)
class CheckFinding:
    """Something that is not as it must be. A note needs no action; an error says what to do."""

    code: str
    message: str
    level: Literal["error", "note"] = "error"
    seq: int | None = None
    """The first event at which it shows."""


@dataclass
class CheckReport:
    """The findings of a check: how far the log goes, the last link of its chain, and what is wrong."""

    seq: int = 0
    chain_seq: int = 0
    chain: str = GENESIS.hex()
    files: int = 0
    findings: list[CheckFinding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.level == "note" for finding in self.findings)


class Check:
    """One check in progress: what is the same for every store. It uses plain SQL."""

    def __init__(self, nouns: Sequence[Noun], files: Path, progress: Progress, acknowledged: int = 0) -> None:
        self._nouns = nouns
        self._tables = [table for noun in nouns for table in noun.tables]
        self._files = files
        self._acknowledged = acknowledged
        self._progress = progress
        self._checked = CheckReport()

    def _check_all(self, connection: Any) -> None:
        if not self._is_ours(connection):
            return
        self._checked.seq = connection.execute("SELECT max(seq) FROM events").get or 0
        if self._checked.seq < self._acknowledged:
            self._find(
                "events_lost",
                f"The log ends at event {self._checked.seq}, but {self._acknowledged} were acknowledged:"
                f" its newest part is lost. {RESTORE}",
                seq=self._checked.seq + 1,
            )
        self._check_pages(connection)
        with contextlib.closing(apsw.Connection("")) as scratch:  # a private temporary file, gone when it is closed
            if self._walk(connection, scratch):
                self._check_rows(connection, scratch)
        self._check_bookkeeping(connection)
        self._check_files(connection)

    def _walk(self, connection: Any, scratch: apsw.Connection) -> bool:
        """Read all events once: check their numbers, the chain, and the rows that they produce. False if cut short."""
        codec, project = Codec(self._nouns), build_projector(self._nouns)
        privileged = {kind.__name__ for noun in self._nouns for kind in noun.events if kind.privileged}
        chain = Chain(connection, privileged)
        scratch.execute(MECHANISM)
        scratch.execute("BEGIN")
        for statement in sqlite_rows.build_ddl(self._tables):
            scratch.execute(statement)
        writer = SqliteRowWriter(scratch)
        expected = 1
        for raw in connection.execute("SELECT seq, at, by, type, v, data FROM events ORDER BY seq"):
            if raw[0] != expected:
                self._find("seq_gap", f"Event {expected} is missing from the log. {RESTORE}", seq=expected)
                return False
            fault = chain.follow(raw)
            if fault:
                self._find("chain_broken", f"{fault} {RESTORE}", seq=expected)
            try:
                record = codec.decode(*raw)
                writer.seq = expected
                project(writer, record)
            except Exception as error:  # whatever a damaged event makes of a decoder or a projection
                self._find("event_unreadable", f"Event {expected} cannot be read ({error!r}). {RESTORE}", seq=expected)
                return False
            if expected % _BATCH == 0:
                writer.flush()
                writer.changed.clear()
                self._progress("events", expected, self._checked.seq)
            expected += 1
        writer.flush()
        self._progress("events", self._checked.seq, self._checked.seq)
        if not chain.broken and (stray := chain.get_surplus_link()) is not None:
            self._find(
                "chain_broken",
                f"The chain names event {stray}, which is no privileged one. {RESTORE}",
                seq=stray,
            )
        self._checked.chain_seq, self._checked.chain = chain.seq, chain.hash.hex()
        return True

    def _check_rows(self, connection: Any, scratch: apsw.Connection) -> None:
        mark = connection.execute("SELECT value FROM meta WHERE name = ?", (MARK,)).get
        if mark != compute_fingerprint(self._nouns):
            message = "The rows were made by another version of the program; the next start of the hub makes them anew."
            self._find("rows_outdated", message, level="note")
            return
        for number, table in enumerate(self._tables):
            self._progress("tables", number, len(self._tables))
            columns = ", ".join(["key", "seq", "data", *[f"c_{c}" for c in table.columns]])
            query = f"SELECT {columns} FROM row_{table.name} ORDER BY key"  # noqa: S608 the table is ours
            self._compare(f"row of {table.name}", connection, scratch, query, table)
            if table.text:
                self._compare_text(table, connection, scratch)
        self._compare(
            "mark of a dropped row", connection, scratch, "SELECT tbl || ' ' || key, seq FROM gone ORDER BY tbl, key"
        )
        self._progress("tables", len(self._tables), len(self._tables))

    def _compare(
        self, what: str, connection: Any, scratch: apsw.Connection, query: str, table: Table[Any] | None = None
    ) -> None:
        for found, made in zip_longest(connection.execute(query), scratch.execute(query)):
            if found == made or (table is not None and found and made and _is_same_row(table, found, made)):
                continue
            if made is None or (found is not None and found[0] < made[0]):
                seq, message = found[1], f"There is a {what} ({found[0]!r}) that the log does not account for."
            elif found is None or made[0] < found[0]:
                seq, message = made[1], f"A {what} ({made[0]!r}) is missing that the log accounts for."
            else:
                seq, message = made[1], f"A {what} ({made[0]!r}) is not what the log makes of it."
            self._find("rows_differ", f"{message} {REBUILD}", seq=seq)
            return

    def _check_bookkeeping(self, connection: Any) -> None:
        head = self._checked.seq
        unfounded = "SELECT name, first, last FROM commands WHERE first < 1 OR first > last OR last > ? LIMIT 1"
        for name, first, last in connection.execute(unfounded, (head,)):
            message = f"A key of {name} stands for events {first} to {last}, which are not in the log. {RESTORE}"
            self._find("command_unfounded", message, seq=first)
        for name, seq in connection.execute("SELECT name, seq FROM cursors WHERE seq > ?", (head,)):
            message = f"The reactor {name} claims to have seen event {seq}, but the log ends at {head}. {RESTORE}"
            self._find("cursor_ahead", message, seq=seq)

    def _check_files(self, connection: Any) -> None:
        names = self._find_named_files(connection)
        self._checked.files = len(names)
        for number, name in enumerate(sorted(names)):
            self._progress("files", number, len(names))
            fault = get_file_fault(self._files, name)
            if fault and name in self._find_files_named_now():  # it may have gone with its thread since the snapshot
                self._find(f"file_{fault}", f"The payload file {name} is {fault}. {RESTORE}")
        self._progress("files", len(names), len(names))

    def _find(self, code: str, message: str, level: Literal["error", "note"] = "error", seq: int | None = None) -> None:
        self._checked.findings.append(CheckFinding(code, message, level, seq))

    def _is_ours(self, connection: Any) -> bool:
        """Whether this is a database that we know how to read."""
        raise NotImplementedError

    def _check_pages(self, connection: Any) -> None:
        """Look for damage below the tables."""
        raise NotImplementedError

    def _compare_text(self, table: Table[Any], connection: Any, scratch: apsw.Connection) -> None:
        """Compare the search index."""
        raise NotImplementedError

    def _find_named_files(self, connection: Any) -> set[str]:
        """The payload files that rows name."""
        raise NotImplementedError

    def _find_files_named_now(self) -> set[str]:
        """The same, of this moment."""
        raise NotImplementedError


def get_file_fault(folder: Path, name: str) -> str | None:
    """What is wrong with a payload file: missing, damaged or unreadable."""
    try:
        with build_blob_path(folder, name).open("rb") as file:
            return None if hashlib.file_digest(file, "sha256").hexdigest() == name else "damaged"
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError):
        return "unreadable"


def _is_same_row(table: Table[Any], found: Sequence[Any], made: Sequence[Any]) -> bool:
    """Whether two rows differ only in how they are written, such as a default that one of them leaves out."""
    (key, seq, data, *columns), (made_key, made_seq, made_data, *made_columns) = found, made
    if (key, seq, columns) != (made_key, made_seq, made_columns):
        return False
    try:
        return bool(table.decode(data) == table.decode(made_data))
    except msgspec.DecodeError:
        return False
