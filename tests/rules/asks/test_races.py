"""Many answer at once: each ask has one answer, and all the others are told whose it is."""

import asyncio
import os
import random
from functools import partial
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import need_success, register_agent
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.doors.sync.sync_rig import Held, SyncClient

pytestmark = pytest.mark.anyio
ROUNDS = int(os.environ.get("ASK_ROUNDS", "3"))
AGENTS, ASKS, CLIENTS = 30, 100, 5
PATHS = ("one", "batch")


async def credential(url: str, token: str, name: str) -> str:
    async with KeepAliveConnection(url, token) as line:
        body = {"kind": "operator", "name": name}
        return str(need_success(await line.call("POST", "/api/credentials", body))["token"])


def is_answered(inbox: Held, ask_id: str) -> bool:
    return bool(inbox.rows[("ask", ask_id)]["state"] == "answered")


async def raise_asks(lines: list[KeepAliveConnection], number: int) -> list[str]:
    async def raise_some(place: int, line: KeepAliveConnection) -> list[str]:
        mine = range(place, ASKS, AGENTS)
        return [
            str(need_success(await line.call("POST", "/api/asks", {"title": f"{number}.{one}"}))["id"]) for one in mine
        ]

    made = await asyncio.gather(*(raise_some(place, line) for place, line in enumerate(lines)))
    return [ask_id for some in made for ask_id in some]


async def answer_all(line: KeepAliveConnection, name: str, ids: list[str], way: str) -> dict[str, dict[str, Any]]:
    """What one client was told of each ask."""
    if way == "batch":
        answers = [{"ask_id": one, "verdict": "answer", "text": name} for one in ids]
        results = need_success(await line.call("POST", "/api/asks/answers", {"answers": answers}))["results"]
        return {one["ask_id"]: one for one in results}
    told = {}
    for ask_id in ids:
        answer = await line.call("POST", f"/api/asks/{ask_id}/answer", {"verdict": "answer", "text": name})
        assert answer.status in (200, 409), answer
        told[ask_id] = {"ok": answer.status == 200, **answer.json}
    return told


@pytest.mark.timeout(TEST_LIMIT_S + ROUNDS * 5)
async def test_a_hundred_asks_of_thirty_agents_are_answered_once_by_five_clients(hub: HubProcess) -> None:
    chance = random.Random(ROUNDS)
    names = [f"client {number}" for number in range(CLIENTS)]
    askers = [
        KeepAliveConnection(hub.url, (await register_agent(hub.url, hub.token, f"agent{n}"))[1]) for n in range(AGENTS)
    ]
    clients = [KeepAliveConnection(hub.url, await credential(hub.url, hub.token, name)) for name in names]
    looking = KeepAliveConnection(hub.url, hub.token)
    async with SyncClient(hub.url, hub.token) as page:
        inbox = await page.subscribe("inbox")
        for number in range(ROUNDS):
            ids = await raise_asks(askers, number)
            assert len(set(ids)) == ASKS
            orders = [chance.sample(ids, ASKS) for _ in clients]
            told = await asyncio.gather(
                *(
                    answer_all(line, name, order, chance.choice(PATHS))
                    for line, name, order in zip(clients, names, orders, strict=True)
                )
            )
            found = (await looking.call("GET", f"/api/asks?state=answered&before={2**53}&limit={ASKS}")).json["asks"]
            rows = {ask["id"]: ask["answer"] for ask in found}
            for ask_id in ids:
                winners = [name for name, one in zip(names, told, strict=True) if one[ask_id]["ok"]]
                assert len(winners) == 1, (number, ask_id, winners)
                late = [one[ask_id] for one in told if not one[ask_id]["ok"]]
                assert {(one["code"], one["name"]) for one in late} == {("already_answered", winners[0])}
                assert (rows[ask_id]["text"], rows[ask_id]["name"]) == (winners[0], winners[0])
            left = (await looking.call("GET", "/api/asks")).json["asks"]
            assert left == []
            page.frames.clear()
            await page.until(partial(is_answered, inbox, ids[-1]))
    for line in (*askers, *clients, looking):
        line.close()


async def test_yes_and_no_in_the_same_moment_leave_one_of_them(hub: HubProcess) -> None:
    """AP-07: reviewers at once."""
    lines = [KeepAliveConnection(hub.url, await credential(hub.url, hub.token, f"reviewer {n}")) for n in range(4)]
    asking = KeepAliveConnection(hub.url, hub.token)
    for number in range(20):
        gate = need_success(await asking.call("POST", "/api/asks", {"title": f"gate {number}", "kind": "gate"}))
        verdicts = ["approve", "deny"] * 2
        answers = await asyncio.gather(
            *(
                line.call("POST", f"/api/asks/{gate['id']}/answer", {"verdict": verdict})
                for line, verdict in zip(lines, verdicts, strict=True)
            )
        )
        won = [verdict for verdict, answer in zip(verdicts, answers, strict=True) if answer.status == 200]
        assert len(won) == 1
        assert {answer.json["verdict"] for answer in answers if answer.status == 409} == {won[0]}
    for line in (*lines, asking):
        line.close()
