"""Rebuilds rows from the log: when the code that computes them has changed, and to verify them."""

import contextlib
import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from greenroom.log import sqlite_rows
from greenroom.log.data_directory import acquire_directory, need_database
from greenroom.log.model import Change, Noun, Recorded, Tx
from greenroom.log.sqlite_file import connect, convert_database_errors
from greenroom.log.store import WriteTx

MARK = "rows"
_MECHANISM = (
    "greenroom.log.sqlite_rows",
    "greenroom.log.sqlite_text_index",
    "greenroom.log.postgres_rows",
    "greenroom.log.copied_fields",
    "greenroom.log.row_changes",
    "greenroom.log.rebuild",
)


class RebuildTx(WriteTx, Protocol):
    """A transaction in which rows are rebuilt: each event's are put under its own seq."""

    seq: int
    changed: dict[tuple[str, str], Change]

    def flush(self) -> None: ...


class RebuildableStore(Protocol):
    """A store whose rows can be thrown away and made again."""

    def meta(self, name: str) -> str | None: ...

    def head(self) -> int: ...

    def rebuild_rows(self, fill: Callable[[Any], None], marks: dict[str, str]) -> None: ...


def compute_fingerprint(nouns: Iterable[Noun]) -> str:
    """Changes when any code changes that shapes rows."""
    digest = hashlib.sha256()
    names = sorted({*_MECHANISM, *(source for noun in nouns for source in noun.sources)})
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ValueError(f"{name} is named as a source of rows but is no module")
        digest.update(name.encode() + b"\0" + Path(spec.origin).read_bytes())
    digest.update("\n".join(sqlite_rows.build_ddl(t for noun in nouns for t in noun.tables)).encode())
    return digest.hexdigest()


def build_projector(nouns: Iterable[Noun]) -> Callable[[Tx, Recorded], None]:
    """One function that projects any event of these nouns."""
    nouns = tuple(nouns)
    project = {kind: p for noun in nouns for kind, p in noun.project.items()}
    project_all = [noun.project_all for noun in nouns if noun.project_all is not None]

    def run(tx: Tx, record: Recorded) -> None:
        project[type(record.event)](tx, record.event, record)
        for project_one in project_all:
            project_one(tx, record)

    return run


def forget_rows(data: Path) -> None:
    """Rebuild the rows at the next start; refused while a hub owns the data directory."""
    path = need_database(data)
    lock = acquire_directory(data)
    try:
        with convert_database_errors(path), contextlib.closing(connect(path, write=True)) as connection:
            connection.execute("DELETE FROM meta WHERE name = ?", (MARK,))
    finally:
        os.close(lock)


def ensure_rows(
    store: RebuildableStore, nouns: Iterable[Noun], progress: Callable[[int, int], None] | None = None
) -> int:
    """Rebuild the rows if the code that makes them has changed; returns how many events were gone through."""
    mark = compute_fingerprint(nouns)
    if store.meta(MARK) == mark:
        return 0
    run = build_projector(nouns)
    head = store.head()

    def fill(tx: RebuildTx) -> None:
        seen = 0
        while batch := tx.records(seen + 1, seen + 1000):
            for record in batch:
                tx.seq = record.seq
                run(tx, record)
            seen = batch[-1].seq
            tx.flush()
            tx.changed.clear()
            if progress:
                progress(seen, head)

    store.rebuild_rows(fill, {MARK: mark})
    return head
