"""DBOS on SQLite, as it ships: every step is a step of its workflow, a wait is a recv."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bench.flows.timing import Watch, main


def _launched(folder: Path, work: "Callable[[Any], Awaitable[dict[str, float]]]") -> dict[str, float]:
    from dbos import DBOS

    config: Any = {"name": "bench", "system_database_url": f"sqlite:///{folder / 'dbos.db'}", "log_level": "ERROR"}
    DBOS(config=config)

    async def run() -> dict[str, float]:
        DBOS.launch()
        try:
            return await work(DBOS)
        finally:
            DBOS.destroy()

    return asyncio.run(run())


def chain(folder: Path, size: int) -> dict[str, float]:
    from dbos import DBOS

    @DBOS.step()
    async def one(n: int) -> int:
        return n

    @DBOS.workflow()
    async def flow(count: int) -> int:
        for n in range(count):
            await one(n)
        return count

    async def work(dbos: Any) -> dict[str, float]:
        await flow(1)
        watch = Watch()
        await flow(size)
        return {"s": watch.s()}

    return _launched(folder, work)


def fan(folder: Path, size: int) -> dict[str, float]:
    from dbos import DBOS

    @DBOS.step()
    async def one(n: int) -> int:
        return n

    @DBOS.workflow()
    async def flow(count: int) -> int:
        return len(await asyncio.gather(*(one(n) for n in range(count))))

    async def work(dbos: Any) -> dict[str, float]:
        await flow(1)
        watch = Watch()
        await flow(size)
        return {"s": watch.s()}

    return _launched(folder, work)


def waits(folder: Path, size: int) -> dict[str, float]:
    from dbos import DBOS

    @DBOS.workflow()
    async def flow() -> Any:
        await DBOS.set_event_async("ready", True)
        return await DBOS.recv_async("go", timeout_seconds=600)

    async def work(dbos: Any) -> dict[str, float]:
        watch = Watch()
        handles = [await DBOS.start_workflow_async(flow) for _ in range(size)]
        for handle in handles:
            await DBOS.get_event_async(handle.workflow_id, "ready", timeout_seconds=600)
        park_s = watch.s()
        watch = Watch()
        for handle in handles:
            await DBOS.send_async(handle.workflow_id, 1, "go")
        for handle in handles:
            await handle.get_result()
        return {"park_s": park_s, "signal_s": watch.s()}

    return _launched(folder, work)


if __name__ == "__main__":
    main({"chain": chain, "fan": fan, "waits": waits})
