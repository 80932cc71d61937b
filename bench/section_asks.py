"""From a call that waits to the page, from the answer to the tool, and many open asks listed."""

import asyncio
import json
import tempfile
import time
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.report import Goal, Row
from bench.run import Bench
from bench.section_agents import Hall, hall
from bench.servers import scratch
from bench.stats import summarise
from greenroom.app import open_hub
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.asks.commands import RaiseAsk
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess

OPEN = 10_000
CALLS = 20
_GROUP = 500
_PAGE = 500
_LIMIT_S = 60


def measure_asks(bench: Bench) -> list[Row]:
    bench.say("asks: calls that wait")
    with scratch("asks") as folder, scratch("marks") as marks, hall(folder) as room:  # the node's folder is its own
        shown_s, ran_s = asyncio.run(_calls(room, marks))
    bench.say(f"asks: {OPEN} open ones")
    with tempfile.TemporaryDirectory() as folder_name:
        data = Path(folder_name) / "data"
        asyncio.run(_fill(data))
        with HubProcess(data) as hub:
            first_s, all_s = _list(hub)
    shown, ran = summarise(shown_s), summarise(ran_s)
    bench.measured["asks"] = {"shown": shown, "ran": ran, "first_page_s": first_s, "all_pages_s": all_s}
    return [
        Row("asks: from the call to a connected page", f"{shown.p50_ms:.0f} ms, p99 {shown.p99_ms:.0f} ms"),
        Row("asks: from the answer to the tool running", f"{ran.p50_ms:.0f} ms, p99 {ran.p99_ms:.0f} ms"),
        Row(f"asks: the first {_PAGE} of {OPEN} open ones", f"{first_s * 1000:.0f} ms"),
        Row(f"asks: all {OPEN} open ones, page by page", f"{all_s:.2f} s", goal=Goal(at_most=5), judged=all_s),
    ]


async def _calls(room: Hall, marks: Path) -> tuple[list[float], list[float]]:
    """Seconds from the agent's call to a page that is told of it, and from the answer to the tool's first act."""
    room.profile("asking", driver="rehearsal", approvals="always")
    url, token = room.hub.url, room.hub.token
    headers = {"authorization": f"Bearer {token}"}
    shown, ran = [], []
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=_LIMIT_S) as api,
        connect(url.replace("http", "ws", 1) + "/sync", additional_headers=headers, proxy=None) as page,
    ):
        await page.send('{"op":"subscribe","id":1,"view":"inbox"}')
        for number in range(CALLS):
            mark = marks / str(number)
            run_id = await asyncio.to_thread(room.start, "asking", f"SHELL date +%s%N > {mark}")
            ask = await asyncio.wait_for(_open_ask(page, run_id), _LIMIT_S)
            seen = time.time()
            items = (await api.get(f"/api/runs/{run_id}/items")).json()
            shown.append(seen - next(i["at"] for i in items if i["kind"] == "permission_asked") / 1000)
            answered = time.time()
            await api.post(f"/api/asks/{ask['id']}/answer", json={"verdict": "approve", "digest": ask["digest"]})
            await asyncio.to_thread(room.end, run_id)
            ran.append(int(mark.read_text()) / 1e9 - answered)
    return shown, ran


async def _open_ask(page: ClientConnection, run_id: str) -> dict[str, Any]:
    while True:
        frame = json.loads(await page.recv())
        for row in frame.get("rows", []):
            found: dict[str, Any] = row["row"] or {}
            if found.get("run_id") == run_id and found.get("state") == "open":
                return found


async def _fill(data: Path) -> None:
    async with open_hub(data, Settings(local_node=False)) as hub:
        for _ in range(OPEN // _GROUP):
            await asyncio.gather(*(hub.log.do(_wish(hub)) for _ in range(_GROUP)))


def _wish(hub: Hub) -> RaiseAsk:
    return RaiseAsk(by=HUB, ask_id=new_id("ask"), kind="gate", title="May it go on?", text="Everything is ready. " * 10)


def _list(hub: HubProcess) -> tuple[float, float]:
    with httpx.Client(base_url=hub.url, headers={"authorization": f"Bearer {hub.token}"}, timeout=_LIMIT_S) as api:
        api.get("/api/asks", params={"limit": 1}).raise_for_status()
        begin = perf_counter()
        page = api.get("/api/asks", params={"limit": _PAGE}).json()
        first_s = perf_counter() - begin
        count = len(page["asks"])
        while page["next"] is not None:
            page = api.get("/api/asks", params={"limit": _PAGE, "after": page["next"]}).json()
            count += len(page["asks"])
        if count != OPEN:
            raise RuntimeError(f"{count} asks were listed, not {OPEN}")
        return first_s, perf_counter() - begin
