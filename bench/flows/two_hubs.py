"""Two hubs on one PostgreSQL: how many attempts they carry out, and what becomes of one hub's when it is killed."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from bench.flows.timing import Watch, main
from greenroom.app import NOUNS
from greenroom.log.store_factory import open_store
from greenroom.rules.workflows.events import StepBegan, StepEnded
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.postgres import postgres_server

_LIMIT_S = 120
_FAN = 50
_KILLED_AMONG = 6
_CLAIMED = "SELECT executor_id, status, count(*) FROM greenroom_dbos.workflow_status GROUP BY 1, 2"


class Pair:
    """Two hubs as processes, and a look at the queue that they share."""

    def __init__(self, folder: Path, url: str) -> None:
        self._url = url
        self.hubs = [HubProcess(folder / name, {"GREENROOM_DATABASE": url}).start() for name in ("a", "b")]
        self._queue = psycopg.connect(url, autocommit=True)

    def close(self) -> None:
        self._queue.close()
        for hub in self.hubs:
            hub.stop()

    def start(self, hub: HubProcess, count: int, key: str) -> list[str]:
        """Have fan-outs carried out, so many attempts each."""
        each = {"id": "each", "set": {"n": "index"}, "for_each": {"items": list(range(_FAN)), "parallel": _FAN}}
        body = {"definition": {"name": "fan", "limits": {"max_parallel": _FAN}, "steps": [each]}}
        with _client(hub) as client:
            answers = [
                client.post("/api/workflow-runs", json=body, headers={"Idempotency-Key": f"{key}-{n}"})
                for n in range(count)
            ]
        return [str(answer.raise_for_status().json()["id"]) for answer in answers]

    def lost(self, hub: HubProcess, runs: list[str]) -> int:
        """Wait for the end of all; how many did not come to what they must."""
        wanted = {"each": [{"n": n} for n in range(_FAN)]}
        with _client(hub) as client:
            ends = [client.get(f"/api/workflow-runs/{run}/wait", params={"for_s": _LIMIT_S}).json() for run in runs]
        return sum(end["status"] != "completed" or end["output"] != wanted for end in ends)

    def carried(self) -> Counter[str]:
        """How many attempts each hub has carried out."""
        return Counter({hub: count for hub, status, count in self._queue.execute(_CLAIMED) if status == "SUCCESS"})

    def cpu_s(self) -> float:
        """How long both hubs have had a processor."""
        times = [psutil.Process(hub.pid).cpu_times() for hub in self.hubs]
        return sum(one.user + one.system for one in times)

    def held(self, hub: str) -> int:
        """How many attempts a hub has taken and not finished."""
        return sum(n for who, status, n in self._queue.execute(_CLAIMED) if (who, status) == (hub, "PENDING"))

    def doubled(self) -> int:
        """How many attempts began or ended more than once, once both hubs are down."""

        async def read() -> Counter[tuple[Any, ...]]:
            store = open_store(self.hubs[0].data, Settings(database=self._url), NOUNS)
            try:
                records = await store.read(lambda view: list(view.all_events()))
            finally:
                await store.close()
            begun = (
                (r.event.run_id, r.event.step, str(r.event.attempt)) for r in records if type(r.event) is StepBegan
            )
            ended = ((r.event.run_id, r.event.step) for r in records if type(r.event) is StepEnded)
            return Counter[tuple[Any, ...]]([*begun, *ended])

        return sum(count - 1 for count in asyncio.run(read()).values())


def _client(hub: HubProcess) -> httpx.Client:
    headers = {"Authorization": f"Bearer {hub.token}"}
    return httpx.Client(base_url=hub.url, headers=headers, timeout=_LIMIT_S + 10)


@contextmanager
def _pair() -> Iterator[Pair]:
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as folder, postgres_server(durable=True) as server:
        pair = Pair(Path(folder), server.create_database())
        try:
            pair.lost(pair.hubs[0], pair.start(pair.hubs[0], 2, "warm"))
            yield pair
        finally:
            pair.close()


def attempts(folder: Path, size: int) -> dict[str, float]:
    """So many fan-outs at once, on both hubs."""
    with _pair() as pair:
        before, cpu_s = pair.carried(), pair.cpu_s()
        watch = Watch()
        lost = pair.lost(pair.hubs[0], pair.start(pair.hubs[0], size, "run"))
        took, used_s = watch.s(), pair.cpu_s() - cpu_s
        each = pair.carried() - before
        count = sum(each.values())
        return {
            "per_hub": count / 2 / took,
            "least": min(each.values()) / took,
            "lost": lost,
            "cpu_ms": used_s * 1000 / count,
        }


def kills(folder: Path, size: int) -> dict[str, Any]:
    """A hub is killed while it is at work, so often; the other takes up what it had, and finishes all."""
    adopted: list[float] = []
    lost = 0
    with _pair() as pair:
        names = [hub.data.joinpath("hub.id").read_text().strip() for hub in pair.hubs]
        for number in range(size):
            victim, other = pair.hubs[number % 2], pair.hubs[1 - number % 2]
            runs = pair.start(other, _KILLED_AMONG, f"kill-{number}")
            _until(lambda name=names[number % 2]: pair.held(name) > 0)
            victim.kill()
            watch = Watch()
            _until(lambda name=names[number % 2]: pair.held(name) == 0)
            adopted.append(watch.s())
            lost += pair.lost(other, runs)
            victim.restart()
        for hub in pair.hubs:
            hub.stop()
        doubled = pair.doubled()
    return {"lost": lost, "doubled": doubled, "adopted_s": max(adopted), "median_s": sorted(adopted)[len(adopted) // 2]}


def _until(is_so: "Any") -> None:
    deadline = time.monotonic() + _LIMIT_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so after {_LIMIT_S} s")
        time.sleep(0.005)


if __name__ == "__main__":
    main({"attempts": attempts, "kills": kills})
