"""`check` finds whatever is not as it must be, and nothing else."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from greenroom.log.blobs import FileBlobs
from greenroom.log.check import CheckFinding, CheckReport
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.data_directory import StoreUnusable
from greenroom.log.rebuild import forget_rows
from tests.log.notebook import NOTEBOOK, OTHER, WRITER, EraseNote, StarNote, TearPage, note, open_notebook

pytestmark = pytest.mark.anyio
NOUNS = (NOTEBOOK,)


async def fill(data: Path) -> None:
    """A notebook in which everything has happened that can."""
    file = FileBlobs(data / "files").keep(b"a long story")
    async with open_notebook(data) as log:
        await asyncio.gather(*[log.do(note(n, f"thought {n} of many", page=f"page{n % 3}")) for n in range(30)])
        await log.do(note("story", "a long", file=file, key="k1"))
        await log.do(StarNote(by=OTHER, id="n4", key="k2"))
        await log.do(EraseNote(by=WRITER, id="n5"))
        await log.do(EraseNote(by=WRITER, id="n7"))
        await log.do(TearPage(by=WRITER, name="page0"))
        await log.store.move_cursor("reader", 20)


@pytest.fixture
async def notebook(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    await fill(data)
    return data


def change(data: Path, sql: str) -> None:
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        connection.execute(sql)


def only(checked: CheckReport) -> CheckFinding:
    assert len(checked.findings) == 1, checked.findings
    return checked.findings[0]


async def test_a_sound_notebook_has_no_findings_and_names_the_head_of_its_chain(notebook: Path) -> None:
    checked = check_sqlite(notebook, NOUNS)
    assert checked.findings == []
    assert checked.ok
    assert (checked.seq, checked.chain_seq, checked.files) == (35, 35, 1)
    assert len(checked.chain) == 64
    assert checked.chain != "0" * 64


async def test_progress_is_told_for_every_part(notebook: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    check_sqlite(notebook, NOUNS, lambda what, done, of: told.update({what: (done, of)}))
    assert told == {"pages": (1, 1), "events": (35, 35), "tables": (2, 2), "files": (1, 1)}


async def test_a_check_beside_the_running_writer_sees_one_moment(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        posting = asyncio.gather(*[log.do(note(n, page=f"p{n % 5}")) for n in range(2000)])
        while log.store.head() < 200:
            await asyncio.wait([asyncio.ensure_future(log.do(StarNote(by=OTHER, id="n0")))])
        checked = await asyncio.to_thread(check_sqlite, tmp_path, NOUNS)
        await posting
    assert checked.findings == []
    assert 200 <= checked.seq <= 2500


@pytest.mark.parametrize(
    ("sql", "code", "seq"),
    [
        ("DELETE FROM events WHERE seq = 12", "seq_gap", 12),
        ("DELETE FROM events WHERE seq = 1", "seq_gap", 1),
        ("UPDATE events SET type = 'NoteSung' WHERE seq = 9", "event_unreadable", 9),
        ("UPDATE events SET v = 9 WHERE seq = 9", "event_unreadable", 9),
        ("UPDATE events SET data = '{\"id\": ' WHERE seq = 9", "event_unreadable", 9),
        ("UPDATE events SET by = 'nobody' WHERE seq = 33", "chain_broken", 33),
        ("UPDATE events SET at = at + 1 WHERE seq = 34", "chain_broken", 34),
        ("DELETE FROM chain WHERE seq = 34", "chain_broken", 34),
        ("DELETE FROM chain", "chain_broken", 33),
        ("INSERT INTO chain VALUES (99, x'00')", "chain_broken", 99),
        ("UPDATE commands SET last = 99 WHERE first = 31", "command_unfounded", 31),
        ("UPDATE cursors SET seq = 36", "cursor_ahead", 36),
        ("UPDATE row_note SET data = replace(data, 'many', 'none') WHERE key = 'n1'", "rows_differ", 2),
        ("UPDATE row_note SET c_stars = 9 WHERE key = 'n1'", "rows_differ", 2),
        ("UPDATE row_page SET seq = 1 WHERE key = 'page1'", "rows_differ", 34),
        ("DELETE FROM row_note WHERE key = 'n1'", "rows_differ", 2),
        ("DELETE FROM row_note WHERE key = 'nstory'", "rows_differ", 31),
        ("INSERT INTO row_page (key, seq, data) VALUES ('zzz', 3, '{}')", "rows_differ", 3),
        ("DELETE FROM gone", "rows_differ", None),
        ("UPDATE events SET data = replace(data, 'thought', 'nothing') WHERE seq = 2", "rows_differ", 2),
    ],
)
async def test_what_was_changed_behind_the_log_is_found(notebook: Path, sql: str, code: str, seq: int | None) -> None:
    change(notebook, sql)
    checked = check_sqlite(notebook, NOUNS)
    found = checked.findings[0]
    assert (found.code, found.level) == (code, "error"), checked.findings
    if seq is not None:
        assert found.seq == seq
    assert not checked.ok
    assert "greenroom " in found.message


async def test_a_lost_end_of_the_log_is_found_by_the_mark_beside_it(notebook: Path) -> None:
    (notebook / "head").write_text("00000000000000000040")
    found = only(check_sqlite(notebook, NOUNS))
    assert (found.code, found.seq) == ("events_lost", 36)


async def test_a_missing_and_a_changed_payload_file_are_found(notebook: Path) -> None:
    (file,) = (notebook / "files").glob("*/*")
    file.write_bytes(b"a long stor\xf9")
    assert only(check_sqlite(notebook, NOUNS)).code == "file_damaged"
    file.unlink()
    assert only(check_sqlite(notebook, NOUNS)).code == "file_missing"


async def test_a_newer_schema_and_a_foreign_database_are_named_and_left_alone(notebook: Path) -> None:
    before = (notebook / "greenroom.db").read_bytes()
    change(notebook, "PRAGMA user_version = 2")
    assert only(check_sqlite(notebook, NOUNS)).code == "newer_schema"
    change(notebook, "PRAGMA user_version = 1; PRAGMA application_id = 7")
    assert only(check_sqlite(notebook, NOUNS)).code == "not_greenroom"
    change(notebook, f"PRAGMA application_id = {0x67726565}")
    assert check_sqlite(notebook, NOUNS).ok
    assert len((notebook / "greenroom.db").read_bytes()) == len(before)


async def test_a_damaged_database_is_not_touched_by_a_wish_to_rebuild(notebook: Path) -> None:
    cut(notebook / "greenroom.db", 8192)
    with pytest.raises(StoreUnusable, match="greenroom restore"):
        forget_rows(notebook)


async def test_rows_of_another_version_are_a_note_and_not_an_error(notebook: Path) -> None:
    forget_rows(notebook)
    checked = check_sqlite(notebook, NOUNS)
    assert (only(checked).code, only(checked).level, checked.ok) == ("rows_outdated", "note", True)
    async with open_notebook(notebook):
        pass
    assert check_sqlite(notebook, NOUNS).findings == []


async def test_rows_are_not_forgotten_while_a_hub_owns_them(tmp_path: Path) -> None:
    async with open_notebook(tmp_path):
        with pytest.raises(StoreUnusable, match="hub is using"):
            forget_rows(tmp_path)


def test_a_directory_without_a_database_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="--data"):
        check_sqlite(tmp_path, NOUNS)
    assert list(tmp_path.iterdir()) == []


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)


def cut(path: Path, to: int) -> None:
    path.write_bytes(path.read_bytes()[:to])


@pytest.mark.parametrize("page", range(1, 17))
async def test_damaged_pages_are_reported_and_never_raise(notebook: Path, page: int) -> None:
    change(notebook, "VACUUM")
    path = notebook / "greenroom.db"
    assert path.stat().st_size > page * 4096
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xa5" * 4096)
    checked = check_sqlite(notebook, NOUNS)
    assert not checked.ok
    assert any("greenroom restore" in f.message for f in checked.findings)


@pytest.mark.parametrize(
    "harm", [lambda p: flip(p, 3), lambda p: flip(p, 100), lambda p: cut(p, 8192), lambda p: cut(p, 50)]
)
async def test_a_damaged_header_and_a_cut_file_are_reported(notebook: Path, harm: Callable[[Path], None]) -> None:
    harm(notebook / "greenroom.db")
    assert not check_sqlite(notebook, NOUNS).ok
