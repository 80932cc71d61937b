"""kill -9 of the hub at every stage of a post: what was acknowledged is there once, whatever the moment."""

import asyncio
import os
import random
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubEnded, HubProcess
from greenroom.testing.rest_agents import RestListener, RestPoster, open_thread, read_all_messages, register_agent
from tests.faults.rig import assert_in_order

pytestmark = pytest.mark.anyio
KILLS = int(os.environ.get("GREENROOM_TEST_KILLS", "25"))
"""Deaths per stage."""
POSTERS = 64


@pytest.mark.parametrize("stage", ["log.before_commit", "log.committed", "log.announced", "log.answered"])
async def test_what_was_acknowledged_survives_a_kill_and_nothing_is_doubled(stage: str, tmp_path: Path) -> None:
    hub = HubProcess(tmp_path / "data").start()
    thread_id = await open_thread(hub.url, hub.token)
    posters, listeners = await gather_round(hub, thread_id)
    dying = True
    async with asyncio.TaskGroup() as tasks:
        for client in (*posters, *listeners):
            tasks.create_task(client.run(lambda: dying))
        await die_again_and_again(hub, stage, random.Random(stage))
        dying = False
    stored = await read_all_messages(hub.url, hub.token, thread_id)
    await asyncio.gather(*[listener.catch_up(stored[-1]["id"]) for listener in listeners])
    assert hub.stop() == 0
    assert_in_order(hub.data)

    acknowledged = {content: place for poster in posters for content, place in poster.acknowledged.items()}
    assert {m["content"]: (m["id"], m["seq"]) for m in stored} == acknowledged
    assert len(stored) == len(acknowledged)
    ids = [message["id"] for message in stored]
    for listener in listeners:
        heard = [message["id"] for message in listener.heard]
        assert (list(dict.fromkeys(heard)) if listener.durable else heard) == ids
    tries = sum(poster.tries for poster in posters)
    print(f"{stage}: {KILLS} kills, {len(stored)} messages, {tries - len(stored)} repeats")


async def gather_round(hub: HubProcess, thread_id: str) -> tuple[list[RestPoster], list[RestListener]]:
    """Posters of eight agents, and listeners of four more: two keep their cursor, for two the hub keeps it.

    What the hub keeps may be a moment old after a crash: then a message comes again, and is known by its id.
    """
    agents = [await register_agent(hub.url, hub.token, f"agent {number}") for number in range(12)]
    posters = [RestPoster(hub.url, agents[n % 8][1], thread_id, f"poster {n}") for n in range(POSTERS)]
    listeners = [RestListener(hub.url, token, thread_id, durable=n < 2) for n, (_, token) in enumerate(agents[8:])]
    return posters, listeners


async def die_again_and_again(hub: HubProcess, stage: str, dice: random.Random) -> None:
    """Start the hub so that it kills itself at some passage of the stage, and see each time that its data is whole."""
    hub.kill()
    for _ in range(KILLS):
        try:
            await asyncio.to_thread(hub.restart, {"GREENROOM_FAILPOINT": f"{stage}:{dice.randint(1, 25)}"})
            assert await asyncio.to_thread(hub.wait) == -9, hub.stderr
        except HubEnded as early:  # it died before it was ready
            assert early.code == -9, hub.stderr
        await asyncio.to_thread(assert_in_order, hub.data)
    await asyncio.to_thread(hub.restart, {})
