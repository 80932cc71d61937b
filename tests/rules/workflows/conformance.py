"""What every engine must hold to, whatever crashes: random workflows on a hub that is killed at random points.

An engine is chosen by settings. The suite knows nothing else of it.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from greenroom.app import NOUNS
from greenroom.log.model import Recorded
from greenroom.log.store_factory import open_store
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.workflows import events as e
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubEnded, HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.rules.workflows.graphs import fails

ENGINES = ("embedded", "shared")
"""The one that a hub has by itself, and the one of several hubs on a database, which the setting `database` chooses."""
NEVER = "inputs.nothing == 1"
"""A condition that does not hold, and does not look so."""
PLACES = ("log.before_commit", "log.committed", "log.announced", "log.answered")
Json = dict[str, Any]


class Crashing:
    """A hub that dies wherever a test wants it to, and comes back on the same data."""

    def __init__(self, hub: HubProcess, graphs: int = 0) -> None:
        self.hub = hub
        self.graphs = graphs
        """How many workflows it is to be given."""
        self.deaths = 0

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        headers = {"Authorization": f"Bearer {self.hub.token}"}
        with httpx.Client(base_url=self.hub.url, headers=headers, timeout=WAIT_S + 10) as client:
            yield client

    def arm(self, place: str, nth: int) -> None:
        """Start anew, to die at the nth passage of a place."""
        self.hub.stop()
        try:
            self.hub.restart({**self.hub.env, "GREENROOM_FAILPOINT": f"{place}:{nth}"})
        except HubEnded:
            self.deaths += 1

    def heal(self) -> None:
        """Start anew, to live; if it has not died by itself it is killed."""
        self.hub.kill()
        self.deaths += 1
        self.hub.restart({name: value for name, value in self.hub.env.items() if name != "GREENROOM_FAILPOINT"})

    def start(self, definition: Json, key: str) -> str | None:
        """Have a workflow carried out; None when the hub died before it could say so."""
        try:
            with self.client() as client:
                body = {"definition": definition}
                answer = client.post("/api/workflow-runs", json=body, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            return None
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def end(self, run_id: str) -> Json:
        with self.client() as client:
            ended: Json = client.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": WAIT_S}).json()
            assert ended["status"] in ("completed", "failed", "cancelled"), (ended, self.steps(run_id))
            return ended

    def steps(self, run_id: str) -> dict[str, Json]:
        with self.client() as client:
            report = client.get(f"/api/workflow-runs/{run_id}/report").json()
        return {step["id"]: step for step in report["steps"]}


def without_agents(plain: Json, seed: int) -> Json:
    """The same workflow with steps that the engine carries out itself, some of which fail, and with no choice left.

    What a run comes to must not depend on which of two attempts is over first, so that it can be foretold: so no
    failure ends the run, and no item decides for the others.
    """
    steps = []
    for step in plain["steps"]:
        own = {name: value for name, value in step.items() if name not in ("prompt", "profile")}
        bad = fails(seed, step["id"], 0)
        own["set"] = {"value": "1 / inputs.nothing" if bad else f"'{step['id']}'"}
        if "when" in own:  # a constant would be found to be one
            own["when"] = NEVER if own["when"] == "false" else "inputs.nothing == 0"
        if own["on_error"] == "abort":
            own["on_error"] = "skip"
        if "retry" in own:
            own["retry"] = {**own["retry"], "on": ["expression"]}
        if "for_each" in own:
            own["for_each"] = {**own["for_each"], "join": "settled"}
        steps.append(own)
    inputs = {"nothing": {"type": "integer", "default": 0, "required": False}}
    policy = "allow_debt" if plain["policy"] == "allow_debt" else "all_success"
    return {**plain, "steps": steps, "inputs": inputs, "policy": policy, "name": f"random {seed}"}


def random_point(chance: random.Random, most: int) -> tuple[str, int]:
    return chance.choice(PLACES), chance.randint(1, most)


def read_log(hub: HubProcess) -> list[Recorded]:
    """Every event of a hub that is down."""
    import asyncio

    async def read() -> list[Recorded]:
        store = open_store(hub.data, Settings(database=hub.env.get("GREENROOM_DATABASE")), NOUNS)
        try:
            return await store.read(lambda view: list(view.all_events()))
        finally:
            await store.close()

    return asyncio.run(read())


def assert_attempts_in_order(records: list[Recorded]) -> int:
    """Each attempt began once and in order, was over once before the next, and no agent was started twice."""
    open_attempt: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = defaultdict(int)
    agents: set[str] = set()
    for record in records:
        event = record.event
        if isinstance(event, e.StepBegan):
            place = (event.run_id, event.step)
            assert event.attempt == last[place] + 1, (place, event)
            assert place not in open_attempt, (place, event)
            last[place] = open_attempt[place] = event.attempt
        elif isinstance(event, e.StepEnded | e.StepDelayed | e.StepRepeats):
            open_attempt.pop((event.run_id, event.step), None)
        elif isinstance(event, RunCreated):
            assert event.run_id not in agents, event
            agents.add(event.run_id)
    assert not open_attempt, open_attempt
    return sum(last.values())
