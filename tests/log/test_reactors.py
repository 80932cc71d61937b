"""Reactors see every event at least once, in order, and go on where they were."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Recorded
from greenroom.log.reactors import EventReactor, run_reactor
from greenroom.testing.timeouts import WAIT_S
from tests.log.notebook import WRITER, EraseNote, NoteErased, NoteWritten, note, open_notebook

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("either_store")]


def every(records: list[Recorded]) -> list[Recorded]:
    return records


@contextlib.asynccontextmanager
async def reacting(
    log: Log,
    react: Callable[[Recorded], Awaitable[None]],
    errors: list[str] | None = None,
    choose: Callable[[list[Recorded]], list[Recorded]] = every,
) -> AsyncIterator[None]:
    task = asyncio.create_task(run_reactor(log, EventReactor("reader", (NoteWritten,), react, choose), errors))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not true():  # noqa: ASYNC110 what it looks at has no event
            await asyncio.sleep(0.001)


async def test_a_reactor_sees_what_it_asked_for_in_order_before_and_after_it_began(tmp_path: Path) -> None:
    seen: list[int] = []

    async def react(record: Recorded) -> None:
        seen.append(record.seq)

    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n)) for n in range(1200)])
        await log.do(EraseNote(by=WRITER, id="n1"))
        async with reacting(log, react):
            await log.do(note(5000))
            await until(lambda: log.store.cursor("reader") == 1202)
    assert seen == [*range(1, 1201), 1202]


async def test_a_reactor_goes_on_where_it_was_after_a_restart(tmp_path: Path) -> None:
    seen: list[int] = []

    async def react(record: Recorded) -> None:
        seen.append(record.seq)

    for start in (0, 10, 20):
        async with open_notebook(tmp_path) as log, reacting(log, react):
            await asyncio.gather(*[log.do(note(n)) for n in range(start, start + 10)])
            await until(lambda log=log, start=start: log.store.cursor("reader") == start + 10)  # type: ignore[misc]
    assert seen == list(range(1, 31))


async def test_what_was_under_way_at_a_stop_is_seen_again(tmp_path: Path) -> None:
    begun: list[int] = []
    ended: list[int] = []
    hold = asyncio.Event()

    async def slow(record: Recorded) -> None:
        begun.append(record.seq)
        await hold.wait()

    async def quick(record: Recorded) -> None:
        ended.append(record.seq)

    async with open_notebook(tmp_path) as log:
        await log.do(note(1))
        async with reacting(log, slow):
            await until(lambda: begun == [1])
        assert log.store.cursor("reader") == 0
        async with reacting(log, quick):
            await until(lambda: log.store.cursor("reader") == 1)
    assert ended == [1]


async def test_a_failing_event_is_tried_again_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenroom.log.reactors._RETRY_S", 0.01)
    seen: list[int] = []
    errors: list[str] = []

    async def react(record: Recorded) -> None:
        seen.append(record.seq)
        if record.seq == 2 and seen.count(2) < 3:
            raise ConnectionError("not there just now")

    async with open_notebook(tmp_path) as log, reacting(log, react, errors):
        await asyncio.gather(*[log.do(note(n)) for n in range(3)])
        await until(lambda: log.store.cursor("reader") == 3)
    assert seen == [1, 2, 2, 2, 3]
    assert errors == ["reader at 2: not there just now"]  # however often it was tried


async def test_a_reactor_that_must_wait_for_the_disk_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("greenroom.log.reactors._RETRY_S", 0.01)
    seen: list[int] = []
    errors: list[str] = []

    async def react(record: Recorded) -> None:
        seen.append(record.seq)
        if len(seen) < 3:
            raise Unavailable("storage_full.disk", error="full")

    async with open_notebook(tmp_path) as log, reacting(log, react, errors):
        await log.do(note(1))
        await until(lambda: log.store.cursor("reader") == 1)
    assert (seen, errors) == ([1, 1, 1], [])
    told = [record.levelname for record in caplog.records if record.name == "greenroom.log.reactors"]
    assert told == ["WARNING", "WARNING"]


async def test_an_event_of_another_kind_does_not_wake_it(tmp_path: Path) -> None:
    async def react(record: Recorded) -> None:
        assert not isinstance(record.event, NoteErased)

    async with open_notebook(tmp_path) as log:
        await log.do(note(1))
        async with reacting(log, react):
            await until(lambda: log.store.cursor("reader") == 1)
            await log.do(EraseNote(by=WRITER, id="n1"))
            await log.do(note(2))
            await until(lambda: log.store.cursor("reader") == 3)


async def test_a_reactor_chooses_what_it_looks_at_and_goes_on_past_the_rest(tmp_path: Path) -> None:
    seen: list[str] = []

    async def react(record: Recorded) -> None:
        seen.append(record.event.id)

    def choose(records: list[Recorded]) -> list[Recorded]:
        return [record for record in records if record.event.id.endswith("7")]

    async with open_notebook(tmp_path) as log:
        await asyncio.gather(*[log.do(note(n)) for n in range(20)])
        async with reacting(log, react, choose=choose):
            await until(lambda: log.store.cursor("reader") == 20)
            await asyncio.gather(*[log.do(note(n)) for n in range(20, 40)])
            await until(lambda: len(seen) == 4)
            await log.do(EraseNote(by=WRITER, id="n1"))
            await until(lambda: log.store.cursor("reader") == 40)
    assert seen == ["n7", "n17", "n27", "n37"]


async def test_what_a_resting_reactor_does_not_want_moves_its_cursor_with_the_next_write(tmp_path: Path) -> None:
    async def react(record: Recorded) -> None:
        raise AssertionError(record)

    async with open_notebook(tmp_path) as log, reacting(log, react, choose=lambda _: []):
        for n in range(1, 5):
            await log.do(note(n))
        await log.do(EraseNote(by=WRITER, id="n1"))
        await until(lambda: log.store.cursor("reader") == 4)
