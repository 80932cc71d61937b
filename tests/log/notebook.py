"""A small noun for tests of the mechanism: notes on pages, with everything that a noun may use."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from greenroom.clock import Clock
from greenroom.errors import Refused
from greenroom.log.check import CheckReport
from greenroom.log.check_postgres import check_postgres
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.log import Log
from greenroom.log.model import Command, CommandActor, Context, Event, Noun, Recorded, Row, Rows, Table, Tx
from greenroom.log.rebuild import ensure_rows
from greenroom.log.store_postgres import PostgresStore
from greenroom.log.store_sqlite import SqliteStore
from greenroom.settings import Settings

WRITER = CommandActor(id="writer")
OTHER = CommandActor(id="other")


class Note(Row, frozen=True, kw_only=True):
    id: str
    page: str
    text: str
    stars: int = 0
    file: str | None = None


class Page(Row, frozen=True, kw_only=True):
    name: str
    notes: int


NOTES = Table("note", Note, ("id",), (("page", "_seq"), ("stars",)), text="text", file="file")
PAGES = Table("page", Page, ("name",))


class WriteNote(Command, frozen=True, kw_only=True):
    id: str
    page: str
    text: str
    file: str | None = None


class StarNote(Command, frozen=True, kw_only=True):
    id: str


class RewriteNote(Command, frozen=True, kw_only=True):
    id: str
    text: str


class EraseNote(Command, frozen=True, kw_only=True):
    id: str


class TearPage(Command, frozen=True, kw_only=True):
    name: str


class Stumble(Command, frozen=True, kw_only=True):
    """A command whose rule has a bug."""


class Collapse(Command, frozen=True, kw_only=True):
    """A command whose projection has a bug."""


class NoteWritten(Event, frozen=True, kw_only=True):
    version: ClassVar[int] = 3
    id: str
    page: str
    text: str
    file: str | None = None


class NoteStarred(Event, frozen=True, kw_only=True):
    id: str


class NoteRewritten(Event, frozen=True, kw_only=True):
    id: str
    text: str


class NoteErased(Event, frozen=True, kw_only=True):
    privileged: ClassVar[bool] = True
    id: str


class PageTorn(Event, frozen=True, kw_only=True):
    privileged: ClassVar[bool] = True
    name: str


class Collapsed(Event, frozen=True, kw_only=True):
    pass


def write_note(rows: Rows, command: WriteNote, context: Context) -> list[Event]:
    if rows.get(NOTES, command.id) is not None:
        raise Refused.in_words("note_exists", "There is a note of that id.", "conflict")
    return [NoteWritten(id=command.id, page=command.page, text=command.text, file=command.file)]


def star_note(rows: Rows, command: StarNote, context: Context) -> list[Event]:
    _need_note(rows, command.id)
    return [NoteStarred(id=command.id)]


def rewrite_note(rows: Rows, command: RewriteNote, context: Context) -> list[Event]:
    return [NoteRewritten(id=_need_note(rows, command.id).id, text=command.text)]


def erase_note(rows: Rows, command: EraseNote, context: Context) -> list[Event]:
    return [NoteErased(id=_need_note(rows, command.id).id)]


def tear_page(rows: Rows, command: TearPage, context: Context) -> list[Event]:
    return [PageTorn(name=command.name)] if rows.get(PAGES, command.name) else []


def stumble(rows: Rows, command: Stumble, context: Context) -> list[Event]:
    raise ZeroDivisionError("a bug in a rule")


def collapse(rows: Rows, command: Collapse, context: Context) -> list[Event]:
    return [Collapsed()]


def _need_note(rows: Rows, note_id: str) -> Note:
    note = rows.get(NOTES, note_id)
    if note is None:
        raise Refused.in_words("note_not_found", "There is no such note.", "not_found")
    return note


def note_written(tx: Tx, event: NoteWritten, record: Recorded) -> None:
    tx.put(NOTES, Note(id=event.id, page=event.page, text=event.text, file=event.file))
    _count(tx, event.page, 1)


def note_starred(tx: Tx, event: NoteStarred, record: Recorded) -> None:
    note = tx.get(NOTES, event.id)
    assert note is not None
    tx.put(NOTES, msgspec.structs.replace(note, stars=note.stars + 1))


def note_rewritten(tx: Tx, event: NoteRewritten, record: Recorded) -> None:
    note = tx.get(NOTES, event.id)
    assert note is not None
    tx.put(NOTES, msgspec.structs.replace(note, text=event.text))


def note_erased(tx: Tx, event: NoteErased, record: Recorded) -> None:
    note = tx.get(NOTES, event.id)
    assert note is not None
    tx.drop(NOTES, event.id)
    _count(tx, note.page, -1)


def page_torn(tx: Tx, event: PageTorn, record: Recorded) -> None:
    tx.drop(PAGES, event.name)
    tx.drop_all(NOTES, {"page": event.name})


def collapsed(tx: Tx, event: Collapsed, record: Recorded) -> None:
    raise ZeroDivisionError("a bug in a projection")


def _count(tx: Tx, name: str, by: int) -> None:
    page = tx.get(PAGES, name) or Page(name=name, notes=0)
    tx.put(PAGES, msgspec.structs.replace(page, notes=page.notes + by))


def _page_named(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no pages."""
    return {**fields, "page": "loose"}


def _text_renamed(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 2 called the text `words`."""
    return {("text" if name == "words" else name): value for name, value in fields.items()}


NOTEBOOK = Noun(
    name="notebook",
    tables=(NOTES, PAGES),
    events=(NoteWritten, NoteStarred, NoteRewritten, NoteErased, PageTorn, Collapsed),
    decide={
        WriteNote: write_note,
        StarNote: star_note,
        RewriteNote: rewrite_note,
        EraseNote: erase_note,
        TearPage: tear_page,
        Stumble: stumble,
        Collapse: collapse,
    },
    project={
        NoteWritten: note_written,
        NoteStarred: note_starred,
        NoteRewritten: note_rewritten,
        NoteErased: note_erased,
        PageTorn: page_torn,
        Collapsed: collapsed,
    },
    upcast={("NoteWritten", 1): _page_named, ("NoteWritten", 2): _text_renamed},
    sources=("tests.log.notebook",),
)


database: str | None = None
"""The PostgreSQL database that a test has named; None is a file in the data directory."""


@contextlib.asynccontextmanager
async def open_notebook(data: Path, clock: Clock | None = None) -> AsyncIterator[Log]:
    """The log of a notebook in a data directory, or in the database that a test has named, with its writer running."""
    store = SqliteStore(data, (NOTEBOOK,)) if database is None else PostgresStore(data, database, (NOTEBOOK,))
    ensure_rows(store, (NOTEBOOK,))
    log = Log(store, (NOTEBOOK,), Settings(), clock)
    writer = asyncio.create_task(log.run())
    try:
        yield log
    finally:
        log.stop()
        await writer
        await store.close()


def check_notebook(data: Path) -> CheckReport:
    """Verify the notebook wherever it is kept."""
    return check_sqlite(data, (NOTEBOOK,)) if database is None else check_postgres(data, database, (NOTEBOOK,))


def note(number: int | str, text: str = "a thought", page: str = "first", **fields: Any) -> WriteNote:
    return WriteNote(**{"by": WRITER, **fields}, id=f"n{number}", page=page, text=text)
