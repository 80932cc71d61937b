"""Words are found from the commit on that brings them, in the index or before they are in it."""

import asyncio
import contextlib
from pathlib import Path

import apsw
import pytest

from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.sqlite_text_index import WAITING
from tests.log.notebook import (
    NOTEBOOK,
    NOTES,
    OTHER,
    WRITER,
    EraseNote,
    RewriteNote,
    StarNote,
    TearPage,
    note,
    open_notebook,
)

pytestmark = pytest.mark.anyio


def indexed(data: Path) -> int:
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        return int(connection.execute("SELECT count(*) FROM text_note_docsize").get)


async def test_rows_are_found_whether_or_not_they_are_in_the_index_yet(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n, f"old word{n}", page=f"p{n % 2}")) for n in range(WAITING)])
        assert indexed(tmp_path) == WAITING
        await asyncio.gather(*[log.do(note(n, f"new word{n}")) for n in range(WAITING, WAITING + 20)])
        assert indexed(tmp_path) == WAITING
        for number in (0, WAITING - 1, WAITING, WAITING + 19):
            assert [n.id for n in log.rows.search(NOTES, f"word{number}")] == [f"n{number}"]
        assert len(log.rows.search(NOTES, "new", limit=5)) == 5
        assert await log.store.read(lambda view: len(view.search(NOTES, "new"))) == 20

        for number in (1, 3, WAITING, WAITING + 1):
            await log.do(StarNote(by=OTHER, id=f"n{number}"))
            await log.do(EraseNote(by=WRITER, id=f"n{number}"))
            assert log.rows.search(NOTES, f"word{number}") == []
        await log.do(TearPage(by=WRITER, name="p0"))
        assert log.rows.search(NOTES, "word2") == []
        assert log.rows.search(NOTES, "word5")[0].id == "n5"
    assert check_sqlite(tmp_path, (NOTEBOOK,)).findings == []


async def test_an_endless_word_is_no_damage(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n, "a" + "ж" * 40_000)) for n in range(WAITING)])
        assert indexed(tmp_path) == WAITING
    assert check_sqlite(tmp_path, (NOTEBOOK,)).findings == []


async def test_rows_that_take_the_numbers_of_erased_ones_are_found(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n, "early")) for n in range(WAITING)])
        for number in range(WAITING - 3, WAITING):
            await log.do(EraseNote(by=WRITER, id=f"n{number}"))
        await log.do(note("late", "late"))
        assert [n.id for n in log.rows.search(NOTES, "late")] == ["nlate"]
        assert len(log.rows.search(NOTES, "early", limit=1000)) == WAITING - 3


async def test_rewritten_rows_are_found_by_their_new_words_only(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n, f"word{n}")) for n in range(WAITING + 2)])
        rewritten = [RewriteNote(by=WRITER, id=f"n{n}", text=f"other{n}") for n in (0, 9, WAITING + 1)]
        await asyncio.gather(*[log.do(command) for command in [*rewritten, note("more", "more")]])
        for number in (0, 9, WAITING + 1):
            assert log.rows.search(NOTES, f"word{number}") == []
            assert [n.id for n in log.rows.search(NOTES, f"other{number}")] == [f"n{number}"]
    assert check_sqlite(tmp_path, (NOTEBOOK,)).findings == []


async def test_an_index_that_has_lost_a_row_is_noticed(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n, f"word{n}")) for n in range(WAITING + 7)])
    assert check_sqlite(tmp_path, (NOTEBOOK,)).findings == []
    with contextlib.closing(apsw.Connection(str(tmp_path / "greenroom.db"))) as connection:
        connection.execute("DELETE FROM text_note WHERE rowid = 2")
    assert [finding.code for finding in check_sqlite(tmp_path, (NOTEBOOK,)).findings] == ["search_differs"]


@pytest.mark.parametrize(
    "words", ["Straße", "résumé", "re\u0301sume\u0301", "don't", "a.b_c", "中文字", "ÉTUDE", "x" * 300]
)
async def test_a_word_is_found_as_it_was_written(tmp_path: Path, words: str) -> None:
    async with open_notebook(tmp_path) as log:
        await log.do(note(1, f"before {words} behind"))
        for searched in (words, f"{words} {words.upper() if words.isascii() else words}", f"behind {words} " * 30):
            assert [n.id for n in log.rows.search(NOTES, searched)] == ["n1"]
