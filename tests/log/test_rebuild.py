"""Rows are made again from the log when the code that makes them has changed, old versions of events included."""

import contextlib
from pathlib import Path

import apsw
import pytest

from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.codec import Codec, UnknownEvent
from greenroom.log.model import Noun
from greenroom.log.rebuild import compute_fingerprint, ensure_rows, forget_rows
from greenroom.log.store_sqlite import SqliteStore
from tests.log.notebook import NOTEBOOK, NOTES, WRITER, EraseNote, Note, StarNote, note, open_notebook

pytestmark = pytest.mark.anyio
NOUNS = (NOTEBOOK,)


async def fill(data: Path) -> None:
    async with open_notebook(data) as log:
        for number in range(20):
            await log.do(note(number, f"thought {number}"))
        await log.do(StarNote(by=WRITER, id="n3"))
        await log.do(EraseNote(by=WRITER, id="n4"))


def change(data: Path, sql: str) -> None:
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        connection.execute(sql)


def rows_of(data: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        return list(connection.execute("SELECT key, seq, data, c_page, c_stars FROM row_note ORDER BY key"))


async def test_rows_are_equal_after_a_change_of_the_code_that_makes_them(tmp_path: Path) -> None:
    await fill(tmp_path)
    before = rows_of(tmp_path)
    change(tmp_path, "UPDATE meta SET value = 'other code' WHERE name = 'rows'; DELETE FROM row_note")
    async with open_notebook(tmp_path) as log:
        assert log.rows.search(NOTES, "thought 7")[0].id == "n7"
    assert rows_of(tmp_path) == before
    assert check_sqlite(tmp_path, NOUNS).findings == []


async def test_rows_are_left_alone_while_the_code_is_the_same(tmp_path: Path) -> None:
    await fill(tmp_path)
    store = SqliteStore(tmp_path, NOUNS)
    assert ensure_rows(store, NOUNS) == 0
    await store.close()
    forget_rows(tmp_path)
    store = SqliteStore(tmp_path, NOUNS)
    told: list[tuple[int, int]] = []
    assert ensure_rows(store, NOUNS, lambda done, of: told.append((done, of))) == 22
    assert told[-1] == (22, 22)
    await store.close()


def test_the_fingerprint_follows_tables_and_named_sources() -> None:
    other = Noun(name="x", tables=(), events=(), decide={}, project={}, sources=("tests.log.notebook",))
    assert compute_fingerprint(NOUNS) == compute_fingerprint(list(NOUNS))
    assert compute_fingerprint(NOUNS) != compute_fingerprint([other])
    missing = Noun(name="x", tables=(), events=(), decide={}, project={}, sources=("tests.log.nowhere",))
    with pytest.raises(ValueError, match="nowhere"):
        compute_fingerprint([missing])


async def test_events_of_old_versions_are_read_as_todays(tmp_path: Path) -> None:
    await fill(tmp_path)
    old = """
        UPDATE events SET v = 1, data = '{"id":"n0","words":"from the first version"}' WHERE seq = 1;
        UPDATE events SET v = 2, data = '{"id":"n1","words":"from the second","page":"old"}' WHERE seq = 2;
    """
    change(tmp_path, old)
    forget_rows(tmp_path)
    async with open_notebook(tmp_path) as log:
        assert log.rows.get(NOTES, "n0") == Note(id="n0", page="loose", text="from the first version")
        assert log.rows.get(NOTES, "n1") == Note(id="n1", page="old", text="from the second")
        assert log.store.events(0, 1)[0].event.page == "loose"
    assert check_sqlite(tmp_path, NOUNS).findings == []


def test_events_that_this_program_does_not_know_are_named() -> None:
    codec = Codec(NOUNS)
    with pytest.raises(UnknownEvent, match="NoteSung"):
        codec.decode(7, 0, "x", "NoteSung", 1, b"{}")
    with pytest.raises(UnknownEvent, match="version 4"):
        codec.decode(7, 0, "x", "NoteWritten", 4, b"{}")


def test_two_nouns_cannot_bring_the_same_event() -> None:
    with pytest.raises(ValueError, match="NoteWritten"):
        Codec((NOTEBOOK, NOTEBOOK))
