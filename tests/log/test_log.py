"""The log: one writer, commits in groups, answers after the commit."""

import asyncio
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from greenroom.errors import Refused, Unavailable
from greenroom.log.model import Commit
from greenroom.testing.timeouts import WAIT_S
from tests.log.notebook import (
    NOTES,
    OTHER,
    PAGES,
    WRITER,
    Collapse,
    EraseNote,
    StarNote,
    Stumble,
    check_notebook,
    note,
    open_notebook,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("either_store")]


async def test_commands_given_at_once_share_few_commits_and_each_has_its_own_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("greenroom.log.log._GROUP_S", WAIT_S)  # a busy machine does not end a group early
    commits: list[Commit] = []
    async with open_notebook(tmp_path) as log:
        log.subscribe(commits.append)
        done = await asyncio.gather(*[log.do(note(n)) for n in range(500)])
    assert [d.seq for d in done] == list(range(1, 501))
    assert [r.seq for commit in commits for r in commit.records] == list(range(1, 501))
    assert len(commits) <= 4


async def test_an_answer_comes_after_the_commit_and_after_subscribers_were_told(tmp_path: Path) -> None:
    told: list[int] = []
    async with open_notebook(tmp_path) as log:
        log.subscribe(lambda commit: told.append(commit.seq))
        done = await log.do(note(1))
        assert told == [done.seq]
        assert log.rows.get(NOTES, "n1") is not None


async def test_a_commit_names_each_changed_row_once_in_its_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("greenroom.log.log._GROUP_S", WAIT_S)
    commits: list[Commit] = []
    async with open_notebook(tmp_path) as log:
        log.subscribe(commits.append)
        await asyncio.gather(log.do(note(1)), log.do(note(2)), log.do(EraseNote(by=WRITER, id="n1")))
    (commit,) = commits
    changed = {(change.table.name, change.key): change.row for change in commit.changes}
    assert len(changed) == len(commit.changes)
    assert changed[("note", "n1")] is None
    assert changed[("page", "first")].notes == 1


async def test_a_refused_command_and_a_bug_in_a_rule_fail_alone(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        outcomes = await asyncio.gather(
            log.do(note(1)),
            log.do(StarNote(by=WRITER, id="nowhere")),
            log.do(Stumble(by=WRITER)),
            log.do(note(2)),
            return_exceptions=True,
        )
        seqs = [getattr(o, "seq", None) for o in outcomes]
        assert seqs == [1, None, None, 2]
        assert isinstance(outcomes[1], Refused)
        assert isinstance(outcomes[2], ZeroDivisionError)


async def test_a_bug_in_a_projection_takes_nothing_else_with_it(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        outcomes = await asyncio.gather(
            log.do(note(1)), log.do(Collapse(by=WRITER)), log.do(note(2)), return_exceptions=True
        )
        assert isinstance(outcomes[1], ZeroDivisionError)
        assert log.rows.count(NOTES) == 2
        assert log.store.head() == 2
    assert check_notebook(tmp_path).findings == []


async def test_a_subscriber_that_fails_does_not_spoil_the_answer(tmp_path: Path) -> None:
    def fail(commit: Commit) -> None:
        raise ZeroDivisionError

    async with open_notebook(tmp_path) as log:
        log.subscribe(fail)
        end = log.subscribe(fail)
        end()
        assert (await log.do(note(1))).seq == 1


async def test_the_same_key_returns_the_first_answer(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        first = await log.do(note(1, key="k"))
        again = await log.do(note(1, key="k"))
        assert again.repeated
        assert not first.repeated
        assert again.records == first.records
        assert log.store.head() == 1
    async with open_notebook(tmp_path) as log:
        assert (await log.do(note(1, key="k"))).records == first.records


async def test_the_same_key_twice_at_once_is_carried_out_once(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        answers = await asyncio.gather(*[log.do(note(1, key="k")) for _ in range(50)])
        assert {a.seq for a in answers} == {1}
        assert [a.repeated for a in answers].count(False) == 1


async def test_a_key_belongs_to_who_used_it_and_to_one_kind_of_command(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await log.do(note(1, key="k"))
        assert not (await log.do(note(2, key="k", by=OTHER))).repeated
        with pytest.raises(Refused) as refused:
            await log.do(StarNote(by=WRITER, id="n1", key="k"))
        assert refused.value.code == "key_reused"


async def test_a_refused_command_leaves_its_key_free(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        with pytest.raises(Refused):
            await log.do(StarNote(by=WRITER, id="n1", key="k"))
        await log.do(note(1))
        assert not (await log.do(StarNote(by=WRITER, id="n1", key="k"))).repeated


async def test_old_keys_are_forgotten_and_their_events_stay(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        done = await log.do(note(1, key="k"))
        assert await log.store.forget_commands(done.records[0].at) == 0
        assert await log.store.forget_commands(done.records[0].at + 1) == 1
        with pytest.raises(Refused):
            await log.do(note(1, key="k"))
        assert log.store.head() == 1


async def test_a_caller_that_goes_away_does_not_take_the_command_back(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        asking = asyncio.create_task(log.do(note(1)))
        await log.do(note(2))
        asking.cancel()
        async with asyncio.timeout(WAIT_S):
            while log.rows.get(NOTES, "n1") is None:
                await log.do(StarNote(by=OTHER, id="n2"))


async def test_a_stopped_log_finishes_what_it_has_taken_and_takes_no_more(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        taken = asyncio.gather(*[log.do(note(n)) for n in range(100)])
        await asyncio.sleep(0)
        log.stop()
        with pytest.raises(Unavailable) as unavailable:
            await log.do(note(1000))
        assert unavailable.value.code == "stopping"
        assert len(await taken) == 100


async def test_too_many_waiting_commands_are_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenroom.log.log._BACKLOG", 10)
    async with open_notebook(tmp_path) as log:
        outcomes = await asyncio.gather(*[log.do(note(n)) for n in range(30)], return_exceptions=True)
    busy = [o for o in outcomes if isinstance(o, Unavailable)]
    assert {o.code for o in busy} == {"busy"}
    assert len(outcomes) - len(busy) >= 10


async def test_cursors_move_while_commands_are_committed(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        moved = asyncio.gather(*[log.store.move_cursor("reader", n) for n in range(200)])
        done = await asyncio.gather(*[log.do(note(n)) for n in range(200)])
        await moved
        assert sorted(d.seq for d in done) == list(range(1, 201))
        assert log.store.cursor("reader") == 199


async def test_a_row_as_it_is_stored_is_the_row_in_json(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n)) for n in range(5)])
        with log.store.snapshot() as view:
            data = view.find_data(NOTES, after=("_seq", 2), order="_seq", limit=2)
            assert data == [msgspec.json.encode(row) for row in view.find(NOTES, after=("_seq", 2), limit=2)]
            assert len(data) == 2


async def test_a_snapshot_stays_what_it_was_while_the_log_goes_on(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await log.do(note(1))
        with log.store.snapshot() as view:
            await log.do(note(2))
            assert view.seq == 1
            assert view.count(NOTES) == 1
            assert [r.seq for r in view.all_events()] == [1]
        assert await log.store.read(lambda later: (later.seq, later.count(NOTES))) == (2, 2)


async def test_rows_are_found_by_their_fields_their_order_and_their_words(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        for number, words in enumerate(["red apple", "green apple", "绿色的房间", 'a "quoted" NEAR( thing']):
            await log.do(note(number, words, page="a" if number < 2 else "b"))
        await log.do(StarNote(by=OTHER, id="n0"))
        rows = log.rows
        assert [n.id for n in rows.find(NOTES, {"page": "a"}, order="_seq")] == ["n1", "n0"]
        assert [n.id for n in rows.find(NOTES, {"stars": 0}, order="_key", desc=True, limit=2)] == ["n3", "n2"]
        assert [n.id for n in rows.find(NOTES, after=("stars", 0))] == ["n0"]
        assert rows.count(NOTES, {"page": "b"}) == 2
        assert [n.id for n in rows.search(NOTES, "apple green")] == ["n1"]
        assert [n.id for n in rows.search(NOTES, "房间")] == ["n2"]
        assert rows.search(NOTES, '"quoted" NEAR(')[0].id == "n3"
        assert rows.search(NOTES, "apple", {"page": "b"}) == []
        assert rows.search(NOTES, '  " ') == []


async def test_dropped_rows_are_told_since_a_seq(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        await log.do(note(1))
        await log.do(EraseNote(by=WRITER, id="n1"))
        with log.store.snapshot() as view:
            assert view.gone_since("note", 0, 10) == [("n1", 2)]
            assert view.gone_since("note", 2, 10) == []
            page = view.get(PAGES, "first")
            assert page is not None
            assert page.notes == 0


async def test_long_rows_that_rules_look_at_are_not_all_kept_in_memory(tmp_path: Path) -> None:
    async with open_notebook(tmp_path) as log:
        for number in range(25):
            await log.do(note(number, "x" * 1_000_000))
        tracemalloc.start()
        try:
            for number in range(25):
                with pytest.raises(Refused):
                    await log.do(note(number, "once more"))
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kept < 20_000_000


async def test_a_second_owner_of_the_directory_is_refused(tmp_path: Path) -> None:
    async with open_notebook(tmp_path):
        with pytest.raises(Exception, match="hub is using"):
            async with open_notebook(tmp_path):
                pass
