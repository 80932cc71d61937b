"""The hand-written limit: asyncio, graphlib, and SQLite at full durability, one row per step, group commit."""

import asyncio
import graphlib
import sqlite3
from pathlib import Path
from typing import Any

from bench.flows.timing import Watch, main

Graph = dict[str, set[str]]


class Store:
    """One writer; whoever writes while it commits goes with the next commit."""

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "steps.db", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE step (run TEXT, id TEXT, output TEXT, PRIMARY KEY (run, id)) WITHOUT ROWID")
        self._waiting: list[tuple[tuple[str, str, str], asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def put(self, run: str, step: str, output: str) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(((run, step, output), done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())
        await done

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._commit, [row for row, _ in batch])
            for _, done in batch:
                done.set_result(None)

    def _commit(self, rows: list[tuple[str, str, str]]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO step VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")


async def carry_out(store: Store, run: str, graph: Graph) -> None:
    sorter = graphlib.TopologicalSorter(graph)
    sorter.prepare()

    async def step(name: str) -> str:
        await store.put(run, name, "{}")
        return name

    tasks: set[asyncio.Task[str]] = set()
    while sorter.is_active():
        tasks |= {asyncio.create_task(step(name)) for name in sorter.get_ready()}
        over, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        sorter.done(*(task.result() for task in over))


def _timed(folder: Path, graph: Graph) -> dict[str, float]:
    async def run() -> float:
        store = Store(folder)
        await carry_out(store, "warm", {"a": set()})
        watch = Watch()
        await carry_out(store, "run", graph)
        return watch.s()

    return {"s": asyncio.run(run())}


def chain(folder: Path, size: int) -> dict[str, float]:
    return _timed(folder, {f"s{n}": {f"s{n - 1}"} if n else set() for n in range(size)})


def fan(folder: Path, size: int) -> dict[str, float]:
    return _timed(folder, {**{f"s{n}": set() for n in range(size)}, "join": {f"s{n}" for n in range(size)}})


def waits(folder: Path, size: int) -> dict[str, float]:
    async def run() -> dict[str, float]:
        store = Store(folder)
        gates = [asyncio.Event() for _ in range(size)]
        parked = asyncio.Semaphore(0)

        async def one(number: int) -> None:
            await store.put(str(number), "wait", "waiting")
            parked.release()
            await gates[number].wait()
            await store.put(str(number), "wait", "over")

        watch = Watch()
        tasks = [asyncio.create_task(one(number)) for number in range(size)]
        for _ in range(size):
            await parked.acquire()
        park_s = watch.s()
        watch = Watch()
        for gate in gates:
            gate.set()
        await asyncio.gather(*tasks)
        return {"park_s": park_s, "signal_s": watch.s()}

    return asyncio.run(run())


if __name__ == "__main__":
    jobs: dict[str, Any] = {"chain": chain, "fan": fan, "waits": waits}
    main(jobs)
