"""A hub is cut off from the database at random moments: the other one writes on, and nothing is lost or doubled."""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import postgres_server
from greenroom.testing.timeouts import TEST_LIMIT_S, WAIT_S
from tests.cables import DATABASE_IP, Cable, laid_cables
from tests.conftest import assert_in_order

CUTS = int(os.environ.get("GREENROOM_TEST_CUTS", "3"))
"""How often a hub is cut off; twenty for the long version."""
WRITERS = 3
pytestmark = pytest.mark.timeout(TEST_LIMIT_S + 60 * CUTS)


class Far(NamedTuple):
    """A hub on a machine of its own."""

    cable: Cable
    hub: HubProcess


class Health(NamedTuple):
    """One answer of `/health`: when it was asked for, when it came, and its status."""

    asked: float
    came: float
    status: int


class Load:
    """Writers and a watchdog of one hub, each in a thread of its own. What fails is written again, under its key."""

    def __init__(self, far: Far, token: str, thread_id: str) -> None:
        self._far = far
        self._thread_id = thread_id
        self._headers = {"Authorization": f"Bearer {token}"}
        self._stop = threading.Event()
        self.acknowledged: list[tuple[float, str]] = []
        self.health: list[Health] = []
        self.statuses: Counter[int] = Counter()
        works = [lambda number=number: self._write(number) for number in range(WRITERS)]
        self._threads = [threading.Thread(target=work) for work in (*works, self._watch)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self._far.hub.url, headers=self._headers, timeout=WAIT_S)

    def _write(self, writer: int) -> None:
        place, number = self._far.hub.data.name, 0
        with self._client() as client:
            while not self._stop.is_set():
                number += 1
                self._post(client, f"{place}-{writer}-{number}")

    def _post(self, client: httpx.Client, text: str) -> None:
        while True:
            try:
                answer = client.post(
                    f"/api/threads/{self._thread_id}/messages",
                    json={"content": text, "author": "writer"},
                    headers={"Idempotency-Key": text},
                )
            except httpx.TransportError:  # the hub was stopped
                if self._stop.wait(0.1):
                    return
                continue
            self.statuses[answer.status_code] += 1
            if answer.status_code == 201:
                self.acknowledged.append((time.monotonic(), text))
                return
            if self._stop.wait(0.1):
                return

    def _watch(self) -> None:
        with self._client() as client:
            while not self._stop.wait(0.05):
                asked = time.monotonic()
                try:
                    status = client.get("/health").status_code
                except httpx.TransportError:
                    continue
                self.health.append(Health(asked, time.monotonic(), status))


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Far, Far]]:
    """Two hubs; both end well and leave a log that is whole."""
    with laid_cables(2) as cables, postgres_server(host=DATABASE_IP) as server:
        env = {"GREENROOM_DATABASE": server.create_database(), "GREENROOM_ALLOW_PLAINTEXT": "1"}
        hubs = [
            HubProcess(tmp_path / name, env, ["--host", cable.call_ip], cable.prefix)
            for name, cable in zip("ab", cables, strict=True)
        ]
        try:
            a, b = (Far(cable, hub.start()) for cable, hub in zip(cables, hubs, strict=True))
            yield a, b
        finally:
            codes = [hub.stop() for hub in hubs]
        for hub, code in zip(hubs, codes, strict=True):
            assert_in_order(hub, code)


def test_the_other_hub_writes_on_when_one_is_cut_off_from_the_database(pair: tuple[Far, Far]) -> None:
    chance = random.Random()
    token = pair[0].hub.token
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=pair[0].hub.url, headers=headers, timeout=WAIT_S) as client:
        thread_id = client.post("/api/threads", json={"topic": "cut off"}).json()["id"]
    loads = [Load(far, token, thread_id) for far in pair]
    for load in loads:
        load.start()
    gaps: list[float] = []
    slowest: list[float] = []
    try:
        for cut in range(CUTS):
            place = chance.randrange(2)
            (cable, hub), here, there = pair[place], loads[place], loads[1 - place]
            before = [len(load.acknowledged) for load in loads]
            wait_until(lambda before=before: all(len(loads[n].acknowledged) > before[n] + 20 for n in range(2)))
            threading.Event().wait(chance.random())  # the moment of the cut is left to chance
            cable.pull()
            pulled = time.monotonic()
            wait_until(lambda here=here: here.health and here.health[-1].status == 503)
            wait_until(lambda here=here, n=here.statuses[503]: here.statuses[503] > n)
            threading.Event().wait(5)  # until the database has let go of all that the hub may have held
            seen = len(there.acknowledged)
            wait_until(lambda there=there, n=seen: len(there.acknowledged) > n)
            gaps.append(_longest_gap(there, pulled))
            is_stopped = cut % 3 == 2
            if is_stopped:
                assert hub.stop() == 0
            healing = time.monotonic()
            cable.plug_in()
            if is_stopped:
                hub.restart()
            told = [health for health in here.health if health.asked > pulled and health.came < healing]
            assert {health.status for health in told} == {503}
            slowest.append(max(health.came - health.asked for health in told))
            seen = len(here.acknowledged)
            wait_until(lambda here=here, n=seen: len(here.acknowledged) > n)
    finally:
        for cable, _ in pair:
            cable.plug_in()
        for load in loads:
            load.stop()
    statuses = loads[0].statuses + loads[1].statuses
    print(f"writing again after {[round(gap, 1) for gap in gaps]} s, /health at most {max(slowest):.1f} s, {statuses}")
    assert set(statuses) <= {201, 503}
    assert all(health.status in (200, 503) for load in loads for health in load.health)
    acknowledged = [text for load in loads for _, text in load.acknowledged]
    written = _read_all(pair[0].hub, headers, thread_id)
    assert sorted(set(acknowledged) - set(written)) == []
    assert [text for text, count in Counter(written).items() if count > 1] == []


def _longest_gap(load: Load, since: float) -> float:
    """How long at most nothing was acknowledged after a moment."""
    times = [since, *(at for at, _ in load.acknowledged if at > since)]
    return max(later - earlier for earlier, later in pairwise(times))


def _read_all(hub: HubProcess, headers: dict[str, str], thread_id: str) -> list[str]:
    found: list[str] = []
    with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as client:
        after = 0
        while page := client.get(
            f"/api/threads/{thread_id}/messages", params={"after_seq": after, "limit": 500}
        ).json():
            found += [message["content"] for message in page if message["role"] != "system"]
            after = page[-1]["seq"]
    return found
