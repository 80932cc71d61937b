"""Greenroom's engines: a hub without doors, its log at full durability, steps that it carries out itself.

The engine is the embedded one, and with GREENROOM_DATABASE the one of several hubs.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from bench.flows.timing import Watch, main, memory_kb
from greenroom.app import open_hub
from greenroom.ids import new_id
from greenroom.log.model import Commit, Recorded
from greenroom.rules.access.model import HUB, RIGHTS, Principal
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.events import AskRaised
from greenroom.rules.asks.model import ASKS
from greenroom.rules.workflows.commands import AbortWorkflow, PutWorkflow, SignalStep, StartWorkflow
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.events import StepBegan, WorkflowEnded
from greenroom.rules.workflows.model import LIVE, WORKFLOW_RUNS
from greenroom.services.hub import Hub
from greenroom.settings import Settings

_AT_ONCE = 500
_LIMIT_S = 300
_IDLE_S = 3.0
Json = dict[str, Any]


def _with_hub(folder: Path, work: "Callable[[Hub], Awaitable[dict[str, float]]]") -> dict[str, float]:
    async def run() -> dict[str, float]:
        settings = Settings(local_node=False, database=os.environ.get("GREENROOM_DATABASE"))
        async with asyncio.timeout(_LIMIT_S), open_hub(folder / "data", settings) as hub:
            return await work(hub)

    return asyncio.run(run())


async def _put(hub: Hub, definition: Json) -> None:
    await hub.log.do(PutWorkflow(by=HUB, definition=msgspec.convert(definition, WorkflowDefinition)))


async def _start(hub: Hub, name: str) -> str:
    run_id = new_id("wfr")
    await hub.log.do(StartWorkflow(by=HUB, run_id=run_id, workflow=name))
    return run_id


class Counted:
    """Counts something by what is committed."""

    def __init__(self, hub: Hub, counts: Callable[[Recorded], bool]) -> None:
        self.count = 0
        self._counts = counts
        self._more = asyncio.Event()
        hub.log.subscribe(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        found = sum(map(self._counts, commit.records))
        if found:
            self.count += found
            self._more.set()

    async def reach(self, count: int) -> None:
        while self.count < count:
            self._more.clear()
            await self._more.wait()


def _ends(hub: Hub) -> Counted:
    return Counted(hub, lambda record: isinstance(record.event, WorkflowEnded))


def _parked(hub: Hub) -> Counted:
    return Counted(hub, lambda record: isinstance(record.event, StepBegan) and record.event.status == "waiting")


async def _warm(hub: Hub) -> None:
    ends = _ends(hub)
    await _put(hub, {"name": "warm", "steps": [{"id": "a", "set": {"n": "1"}}]})
    await _start(hub, "warm")
    await ends.reach(1)


def _timed(folder: Path, definition: Json) -> dict[str, float]:
    async def work(hub: Hub) -> dict[str, float]:
        await _warm(hub)
        ends = _ends(hub)
        await _put(hub, definition)
        watch = Watch()
        run_id = await _start(hub, definition["name"])
        await ends.reach(1)
        took = watch.s()
        run = hub.rows.get(WORKFLOW_RUNS, run_id)
        assert run is not None and run.status == "completed", run
        return {"s": took}

    return _with_hub(folder, work)


def chain(folder: Path, size: int) -> dict[str, float]:
    steps = [{"id": f"s{n}", "set": {"n": "1"}, "dependencies": [f"s{n - 1}"] if n else []} for n in range(size)]
    return _timed(folder, {"name": "chain", "steps": steps})


def fan(folder: Path, size: int) -> dict[str, float]:
    each = {"items": list(range(size)), "parallel": size}
    steps = [
        {"id": "each", "for_each": each, "set": {"n": "index"}},
        {"id": "join", "dependencies": ["each"], "set": {"n": "size(steps.each.output)"}},
    ]
    return _timed(folder, {"name": "fan", "limits": {"max_parallel": size}, "steps": steps})


_WAITING = {
    "name": "waits",
    "steps": [
        {"id": "before", "set": {"n": "1"}},
        {"id": "wait", "wait": {"webhook": "go"}, "dependencies": ["before"]},
        {"id": "after", "set": {"n": "1"}, "dependencies": ["wait"]},
    ],
}


async def _park(hub: Hub, size: int) -> list[str]:
    """Start so many runs, and return once all of them wait."""
    await _put(hub, _WAITING)
    parked = _parked(hub)
    runs: list[str] = []
    for _ in range(0, size, _AT_ONCE):
        count = min(_AT_ONCE, size - len(runs))
        runs += await asyncio.gather(*(_start(hub, "waits") for _ in range(count)))
    await parked.reach(size)
    return runs


async def _signal(hub: Hub, runs: list[str]) -> None:
    for at in range(0, len(runs), _AT_ONCE):
        some = runs[at : at + _AT_ONCE]
        await asyncio.gather(*(hub.log.do(SignalStep(by=HUB, run_id=run, step="wait", value=1)) for run in some))


def waits(folder: Path, size: int) -> dict[str, float]:
    async def work(hub: Hub) -> dict[str, float]:
        await _warm(hub)
        ends = _ends(hub)
        watch = Watch()
        runs = await _park(hub, size)
        park_s = watch.s()
        watch = Watch()
        await _signal(hub, runs)
        await ends.reach(size)
        return {"park_s": park_s, "signal_s": watch.s()}

    return _with_hub(folder, work)


def parked(folder: Path, size: int) -> dict[str, float]:
    """What waiting runs cost: memory each, and the processor's time while nothing happens."""

    async def work(hub: Hub) -> dict[str, float]:
        await _park(hub, 100)
        before = memory_kb()
        watch = Watch()
        await _park(hub, size)
        park_s = watch.s()
        used_kb = memory_kb() - before
        await asyncio.sleep(1)
        cpu, start = time.process_time(), time.perf_counter()
        await asyncio.sleep(_IDLE_S)
        idle = (time.process_time() - cpu) / (time.perf_counter() - start)
        return {"park_s": park_s, "kb_each": max(0.0, used_kb) / size, "idle_share": idle}

    return _with_hub(folder, work)


_GATE = {
    "name": "gate",
    "steps": [
        {"id": "gate", "level": {"kind": "confirmed", "question": "Go on?"}},
        {"id": "after", "set": {"n": "1"}, "dependencies": ["gate"]},
    ],
}


def waking(folder: Path, size: int) -> dict[str, float]:
    """Runs that wait for a person, a hub that is down meanwhile, and the person saying yes to all of them."""

    async def park(hub: Hub) -> dict[str, float]:
        asked = Counted(hub, lambda record: isinstance(record.event, AskRaised))
        await _put(hub, _GATE)
        before = memory_kb()
        for at in range(0, size, _AT_ONCE):
            await asyncio.gather(*(_start(hub, "gate") for _ in range(min(_AT_ONCE, size - at))))
        await asked.reach(size)
        return {"kb_each": max(0.0, memory_kb() - before) / size}

    parked = _with_hub(folder, park)
    watch = Watch()

    async def wake(hub: Hub) -> dict[str, float]:
        start_s = watch.s()
        ends = _ends(hub)
        person = Principal(id="person", kind="operator", name="person", rights=RIGHTS["operator"])
        asks = [ask.id for ask in hub.rows.find(ASKS, {"state": "open"})]
        again = Watch()
        for at in range(0, len(asks), _AT_ONCE):
            some = asks[at : at + _AT_ONCE]
            await asyncio.gather(
                *(hub.log.do(AnswerAsk(by=person, ask_id=ask_id, verdict="approve")) for ask_id in some)
            )
        await ends.reach(size)
        return {"start_s": start_s, "signal_s": again.s()}

    return {**parked, **_with_hub(folder, wake)}


def cancel(folder: Path, size: int) -> dict[str, float]:
    """A tree of runs, ten below each, ended by one command."""

    async def work(hub: Hub) -> dict[str, float]:
        leaf = {"name": "leaf", "steps": [{"id": "wait", "wait": {"webhook": "never"}}]}
        each = {"items": list(range(10)), "parallel": 10}
        await _put(hub, leaf)
        for name, below in (("low", "leaf"), ("middle", "low"), ("top", "middle")):
            await _put(hub, {"name": name, "steps": [{"id": "down", "workflow": below, "for_each": each}]})
        parked = _parked(hub)
        root = await _start(hub, "top")
        await parked.reach(1000)
        runs = hub.rows.count(WORKFLOW_RUNS, {"root_id": root})
        watch = Watch()
        await hub.log.do(AbortWorkflow(by=HUB, run_id=root))
        took = watch.s()
        live = sum(hub.rows.count(WORKFLOW_RUNS, {"status": status}) for status in LIVE)
        return {"s": took, "runs": runs, "live": live}

    return _with_hub(folder, work)


def resume(folder: Path, size: int) -> dict[str, float]:
    """Killed in the middle of a chain: how long a new process takes from its start to the next step's end."""
    program = [sys.executable, "-m", "bench.flows.greenroom_flow"]
    env = {**os.environ, "GREENROOM_BENCH_DATA": str(folder / "data")}
    with subprocess.Popen([*program, "_chain_until_killed", str(size)], env=env, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.send_signal(signal.SIGKILL)
    with subprocess.Popen([*program, "_first_end", "1"], env=env, stdout=subprocess.PIPE) as second:
        out, _ = second.communicate(timeout=60)
    found: dict[str, float] = msgspec.json.decode(out)
    return found


def _chain_until_killed(folder: Path, size: int) -> dict[str, float]:
    """Go through a chain, and say so once a part of it is done."""

    async def run() -> dict[str, float]:
        async with open_hub(Path(os.environ["GREENROOM_BENCH_DATA"]), Settings(local_node=False)) as hub:
            count = 0

            def on_commit(commit: Commit) -> None:
                nonlocal count
                count += 1
                if count == size:
                    print("now", flush=True)

            steps = [
                {"id": f"s{n}", "set": {"n": "1"}, "dependencies": [f"s{n - 1}"] if n else []} for n in range(2000)
            ]
            await _put(hub, {"name": "chain", "steps": steps})
            hub.log.subscribe(on_commit)
            await _start(hub, "chain")
            await asyncio.sleep(60)
            return {}

    return asyncio.run(run())


def _first_end(folder: Path, size: int) -> dict[str, float]:
    """Open the data of a killed hub, and wait for the first step that is ended."""

    async def run() -> dict[str, float]:
        watch = Watch()
        async with open_hub(Path(os.environ["GREENROOM_BENCH_DATA"]), Settings(local_node=False)) as hub:
            ended = asyncio.Event()
            open_s = watch.s()
            leave = hub.log.subscribe(lambda commit: ended.set())
            await asyncio.wait_for(ended.wait(), 30)
            leave()
            return {"s": watch.s(), "open_s": open_s}

    return asyncio.run(run())


if __name__ == "__main__":
    if sys.argv[1] == "_chain_until_killed":
        _chain_until_killed(Path(), int(sys.argv[2]))
    jobs = {
        "chain": chain,
        "fan": fan,
        "waits": waits,
        "parked": parked,
        "waking": waking,
        "cancel": cancel,
        "resume": resume,
        "_first_end": _first_end,
    }
    main(jobs)
