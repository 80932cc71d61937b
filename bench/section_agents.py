"""What the hub adds to agents: time to a turn, a warm agent against a cold one, memory, and many at once."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import psutil

from bench.report import Goal, Row, compare_speed, compare_times
from bench.run import Bench, JobFailed
from bench.servers import ROOT, scratch
from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.contract import SessionOptions, TurnEnded
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.agent_clis import CLAUDE, CODEX
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess

CLIS = ROOT / ".clis"
PROGRAMS: dict[str, list[str]] = {
    "claude": [str(CLIS / CLAUDE)],
    "codex": [str(CLIS / CODEX)],
    "copilot": [str(CLIS / "node_modules/@github/copilot-linux-x64/copilot"), "--acp"],
    "gemini": [str(CLIS / "more/node_modules/.bin/gemini"), "--acp"],
    "opencode": [str(CLIS / "more/node_modules/opencode-linux-x64/bin/opencode"), "acp"],
}
"""The real CLIs, where `make clis` and `make test-clis` have installed them."""
_END_S = 120
_AT_ONCE = 30


class Hall:
    """A hub and a node with room for many, and how long runs take there."""

    def __init__(self, hub: HubProcess, node: "subprocess.Popen[bytes]", api: httpx.Client) -> None:
        self.hub = hub
        self.node = node
        self._api = api

    def profile(self, name: str, **fields: Any) -> None:
        self._api.put(f"/api/profiles/{name}", json=fields).raise_for_status()

    def start(self, profile: str, prompt: str, **fields: Any) -> str:
        answer = self._api.post("/api/runs", json={"profile": profile, "prompt": prompt, **fields})
        if answer.status_code != 201:
            raise JobFailed(f"agents: {answer.json().get('detail')}")
        return str(answer.json()["id"])

    def end(self, run_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline:
            run: dict[str, Any] = self._api.get(f"/api/runs/{run_id}/wait", params={"for_s": 20}).json()
            if run["status"] == "completed":
                return run
            if run["status"] in ("failed", "cancelled", "interrupted"):
                raise JobFailed(f"agents: a run {run['status']}: {run.get('error')}")
        raise JobFailed("agents: a run did not end")

    def turn_s(self, profile: str, prompt: str, **fields: Any) -> float:
        begin = perf_counter()
        self.end(self.start(profile, prompt, **fields))
        return perf_counter() - begin

    def memory_bytes(self) -> tuple[int, int]:
        """Of the hub and of the node, without the agents."""
        return psutil.Process(self.hub.pid).memory_info().rss, psutil.Process(self.node.pid).memory_info().rss


@contextmanager
def hall(data: Path) -> Iterator[Hall]:
    with HubProcess(data / "hub") as hub, ExitStack() as stack:
        headers = {"Authorization": f"Bearer {hub.token}"}
        api = stack.enter_context(httpx.Client(base_url=hub.url, headers=headers, timeout=60))
        joined = api.post("/api/nodes", json={"name": "bench"}).raise_for_status().json()
        token_file = data / "node.token"
        token_file.write_text(joined["token"])
        command = [sys.executable, "-m", "greenroom", "node", "--join", hub.url, "--token-file", str(token_file)]
        command += ["--data", str(data), "--capacity", "100"]
        path = os.pathsep.join([*(str(Path(one[0]).parent) for one in PROGRAMS.values()), os.environ["PATH"]])
        with (data / "node.log").open("wb") as log:
            env = {**os.environ, "PATH": path}
            node = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            while not any(one.get("state") == "connected" for one in api.get("/api/nodes").json()):
                if node.poll() is not None:
                    raise JobFailed(f"agents: the node ended: {(data / 'node.log').read_text()[-1000:]}")
                time.sleep(0.02)
            yield Hall(hub, node, api)
        finally:
            node.terminate()
            node.wait(30)


def measure_agents(bench: Bench) -> list[Row]:
    with scratch("agents") as data, hall(data) as place:
        bench.say("agents: turns")
        rows = _turns(bench, place, data)
        bench.say("agents: memory")
        rows += _memory(bench, place)
        bench.say("agents: many at once")
        rows += _many(bench, place)
        with FakeModel() as model:
            for name, command in PROGRAMS.items():
                if Path(command[0]).exists():
                    bench.say(f"agents: {name}")
                    rows += _reuse(bench, place, name, command, data / name, model.url)
        return rows


def _turns(bench: Bench, place: Hall, data: Path) -> list[Row]:
    count = bench.scale.agent_turns
    place.turn_s("rehearsal", "SAY x", keep_as="warm")
    through = sorted(place.turn_s("rehearsal", "SAY x", agent="warm") for _ in range(count))
    direct = sorted(asyncio.run(_direct(data / "direct", count)))
    bench.measured["agents: turns"] = {"hub_s": through, "direct_s": direct}
    ours_ms, other_ms = statistics.median(through) * 1000, statistics.median(direct) * 1000
    added = ours_ms - other_ms
    return [
        compare_times("a turn of a kept agent", ours_ms, "the same process directly", other_ms),
        Row("  time that the hub adds to it", f"{added:.2f} ms", goal=Goal(at_most=50), judged=added),
        *_compared("rehearsal", [place.turn_s("rehearsal", "SAY x") for _ in range(3)], through),
    ]


async def _direct(folder: Path, count: int) -> list[float]:
    """Turns with the scripted agent, driven from here."""
    for name in ("desk", "scratch"):
        (folder / name).mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GREENROOM_REHEARSAL_STATE": str(folder / "state")}
    opening = SessionOptions(command=[], directory=folder / "desk", scratch=folder / "scratch", env=env)
    session = await load_driver("rehearsal").open(opening, ProcessSpawner())
    heard = session.listen()
    took = []
    for _ in range(count + 1):  # the first one is not counted, as with the hub
        begin = perf_counter()
        await session.prompt("SAY x")
        async for one in heard:
            if isinstance(one, TurnEnded):
                break
        took.append(perf_counter() - begin)
    await session.close()
    return took[1:]


def _compared(name: str, cold: list[float], warm: list[float]) -> list[Row]:
    ours_ms, other_ms = statistics.median(warm) * 1000, statistics.median(cold) * 1000
    return [compare_speed(f"{name}: a run with a kept agent", ours_ms, "a new one", other_ms)]


def _reuse(bench: Bench, place: Hall, name: str, command: list[str], home: Path, model_url: str) -> list[Row]:
    home.mkdir(parents=True)
    wiring = write_model_wiring(name, home, model_url)
    assert wiring is not None
    env = {"HOME": str(home), "XDG_CACHE_HOME": str(CLIS / "cache"), **wiring.env}
    place.profile(name, driver=name, command=command, env=env, model=wiring.model, approvals="never")
    try:
        cold = [place.turn_s(name, "SAY x") for _ in range(bench.scale.agent_starts)]
        place.turn_s(name, "SAY x", keep_as=f"warm {name}")
        warm = [place.turn_s(name, "SAY x", agent=f"warm {name}") for _ in range(bench.scale.agent_turns // 2)]
    except JobFailed as error:
        return [Row(f"{name}: a run with a kept agent", "", name, f"left out: {str(error)[:100]}")]
    bench.measured[f"agents: {name}"] = {"cold_s": cold, "warm_s": warm}
    return _compared(name, cold, warm)


def _memory(bench: Bench, place: Hall) -> list[Row]:
    count = bench.scale.agents_idle
    before = place.memory_bytes()
    for run_id in [place.start("rehearsal", "SAY x", keep_as=f"idle {number}") for number in range(count)]:
        place.end(run_id)
    kb = [(after - was) / count / 1024 for was, after in zip(before, place.memory_bytes(), strict=True)]
    bench.measured["agents: memory"] = {"hub_kb": kb[0], "node_kb": kb[1]}
    return [
        Row(f"memory of the hub for each of {count} idle agents", f"{kb[0]:.0f} kB"),
        Row(f"memory of the node for each of {count} idle agents", f"{kb[1]:.0f} kB"),
    ]


def _many(bench: Bench, place: Hall) -> list[Row]:
    begin = perf_counter()
    runs = [place.start("rehearsal", "SAY x") for _ in range(_AT_ONCE)]
    for run_id in runs:
        place.end(run_id)
    took_s = perf_counter() - begin
    bench.measured["agents: many"] = took_s
    return [Row(f"{_AT_ONCE} agents started at once, until the last has answered", f"{took_s:.2f} s")]
