"""Several hubs on one PostgreSQL database: each sees everything once and in order, and one of them leads."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit
from greenroom.log.rebuild import ensure_rows
from greenroom.log.store_postgres import PostgresStore
from greenroom.settings import Settings
from greenroom.testing.postgres import PostgresServer
from greenroom.testing.timeouts import WAIT_S
from tests.log.notebook import NOTEBOOK, NOTES, PAGES, WRITER, EraseNote, StarNote, note

pytestmark = pytest.mark.anyio
_EACH = 150


@contextlib.asynccontextmanager
async def hub_on(data: Path, url: str) -> AsyncIterator[Log]:
    """One of several logs on a database, hearing what the others commit."""
    store = PostgresStore(data, url, (NOTEBOOK,))
    ensure_rows(store, (NOTEBOOK,))
    log = Log(store, (NOTEBOOK,), Settings())
    store.subscribe_to_others(log.announce)
    tasks = [asyncio.create_task(log.run()), asyncio.create_task(store.listen(data.name))]
    try:
        yield log
    finally:
        log.stop()
        await tasks[0]
        tasks[1].cancel()
        await asyncio.gather(tasks[1], return_exceptions=True)
        await store.close()


async def until(what: "asyncio.Event") -> None:
    async with asyncio.timeout(WAIT_S):
        await what.wait()


class Witness:
    """Everything that one hub announces, and whether it has come to a seq."""

    def __init__(self, log: Log, goal: int) -> None:
        self.seqs: list[int] = []
        self.rows: dict[str, object] = {}
        self.done = asyncio.Event()
        self._goal = goal
        log.subscribe(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        self.seqs += [record.seq for record in commit.records]
        self.rows |= {f"{change.table.name}/{change.key}": change.row for change in commit.changes}
        if self.seqs[-1] >= self._goal:
            self.done.set()


async def test_two_hubs_that_write_at_once_both_hear_every_event_once_and_in_order(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.create_database()
    async with hub_on(tmp_path / "a", url) as a, hub_on(tmp_path / "b", url) as b:
        goal = 2 * _EACH + 2
        seen = Witness(a, goal), Witness(b, goal)
        await asyncio.gather(
            *(a.do(note(f"a{n}", page="shared")) for n in range(_EACH)),
            *(b.do(note(f"b{n}", page="shared")) for n in range(_EACH)),
        )
        await a.do(StarNote(by=WRITER, id="nb0"))
        await b.do(EraseNote(by=WRITER, id="na0"))
        for one in seen:
            await until(one.done)
            assert one.seqs == list(range(1, goal + 1))
            assert one.rows["note/na0"] is None
        for log in (a, b):
            page = log.rows.get(PAGES, "shared")
            assert page is not None and page.notes == 2 * _EACH - 1 == log.rows.count(NOTES)
            starred = log.rows.get(NOTES, "nb0")
            assert starred is not None and starred.stars == 1


async def test_a_hub_that_comes_back_goes_on_from_what_the_others_wrote(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.create_database()
    async with hub_on(tmp_path / "a", url) as a:
        async with hub_on(tmp_path / "b", url) as b:
            await b.do(note(1))
        await a.do(note(2))
        async with hub_on(tmp_path / "b", url) as b:
            assert (await b.do(note(3))).seq == 3
            assert [n.id for n in b.rows.find(NOTES, order="_seq")] == ["n1", "n2", "n3"]


async def test_a_database_that_goes_away_refuses_for_a_while_and_loses_nothing(tmp_path: Path) -> None:
    from greenroom.testing.postgres import postgres_server

    with postgres_server() as server:
        async with hub_on(tmp_path, server.create_database()) as log:
            await log.do(note(1))
            server.kill()
            with pytest.raises(Unavailable):
                await log.do(note(2))
            server.start()
            found: set[str] = set()
            async with asyncio.timeout(WAIT_S):
                while True:
                    with contextlib.suppress(Unavailable):
                        await log.do(note(3))
                        break
                while not found:
                    with contextlib.suppress(Unavailable):  # who reads waits a while before it dials again
                        found = {n.id for n in log.rows.find(NOTES)}
                    await asyncio.sleep(0.05)
            assert found == {"n1", "n3"}


async def test_one_hub_leads_and_another_takes_over_when_it_is_gone(tmp_path: Path, postgres: PostgresServer) -> None:
    url = postgres.create_database()
    async with hub_on(tmp_path / "a", url) as a, hub_on(tmp_path / "b", url) as b:
        assert isinstance(a.store, PostgresStore) and isinstance(b.store, PostgresStore)
        leads = asyncio.Event()

        async def follow(store: PostgresStore) -> None:
            async with store.acquire_lead("all"):
                leads.set()

        async with a.store.acquire_lead("all"):
            following = asyncio.create_task(follow(b.store))
            await b.do(note(1))
            assert not leads.is_set()
        await until(leads)
        await following


async def test_a_hub_that_waits_for_the_lead_does_not_hold_up_the_database(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.create_database()
    async with hub_on(tmp_path / "a", url) as a, hub_on(tmp_path / "b", url) as b:
        assert isinstance(a.store, PostgresStore) and isinstance(b.store, PostgresStore)

        async def follow(store: PostgresStore) -> None:
            async with store.acquire_lead("all"):
                raise AssertionError("the other one leads")

        async with a.store.acquire_lead("all"):
            following = asyncio.create_task(follow(b.store))
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
                await b.do(note(1))
                await other.execute("SET statement_timeout = '30s'")
                await other.execute("CREATE INDEX CONCURRENTLY slow ON events (at)")  # waits for all that are asking
            following.cancel()
            await asyncio.wait([following])
            assert following.cancelled()
