"""Several hubs on one PostgreSQL: the second engine beside the embedded one, and the loss of one of two hubs."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping

from bench.report import Goal, Row, compare_times
from bench.run import QUICK, Bench, JobFailed
from bench.servers import ROOT

_JOB_S = 900
_FLOW, _PAIR = "bench.flows.greenroom_flow", "bench.flows.two_hubs"
_JOBS = {"chain": "a chain of {} steps", "fan": "a fan-out of {} with a join", "waits": "{} waits"}
_PARTS = {"s": "", "park_s": " parked", "signal_s": " signalled and ended"}
Numbers = dict[str, float]


def measure_hubs(bench: Bench) -> list[Row]:
    try:
        from greenroom.testing.machine_requirements import get_program
        from greenroom.testing.postgres import postgres_server
    except ImportError:
        return [Row("several hubs", "", "", "left out: install greenroom[postgres]")]
    if get_program("postgres") is None:
        return [Row("several hubs", "", "", "left out: PostgreSQL is not installed")]
    is_quick = bench.scale is QUICK
    sizes = {"chain": 20, "fan": 200, "waits": 200} if is_quick else {"chain": 50, "fan": 1000, "waits": 1000}
    rows: list[Row] = []
    with postgres_server(durable=True) as server:
        for job, size in sizes.items():
            what = f"workflow: {_JOBS[job].format(f'{size:,}')}"
            here = _run(bench, f"{what} embedded", _FLOW, job, size)
            there = _run(
                bench, f"{what} on PostgreSQL", _FLOW, job, size, {"GREENROOM_DATABASE": server.create_database()}
            )
            for part, took in there.items():
                named = f"{what}{_PARTS[part]}, engine of several hubs"
                rows.append(compare_times(named, took * 1000, "embedded", here[part] * 1000))
    return rows + _pair(bench, fans=10 if is_quick else 40, kills=3 if is_quick else 20)


def _pair(bench: Bench, fans: int, kills: int) -> list[Row]:
    pair = _run(bench, "two hubs: attempts", _PAIR, "attempts", fans)
    killed = _run(bench, "two hubs: kills", _PAIR, "kills", kills)
    return [
        Row(
            f"two hubs, {fans} fan-outs of 50: attempts per hub",
            f"{pair['per_hub']:.0f}/s",
            goal=Goal(at_least=50),
            judged=pair["per_hub"],
        ),
        Row("  and of the one that had fewer", f"{pair['least']:.0f}/s"),
        Row("  processor time of an attempt in the hubs", f"{pair['cpu_ms']:.1f} ms"),
        Row(
            f"one of two hubs killed {kills} times: its work adopted, at worst",
            f"{killed['adopted_s']:.2f} s",
            goal=Goal(at_most=10),
            judged=killed["adopted_s"],
        ),
        Row("  and in the median", f"{killed['median_s']:.2f} s"),
        Row("  workflows lost", f"{killed['lost']:.0f}", goal=Goal(at_most=0), judged=killed["lost"] + pair["lost"]),
        Row("  attempts doubled", f"{killed['doubled']:.0f}", goal=Goal(at_most=0), judged=killed["doubled"]),
    ]


def _run(bench: Bench, what: str, program: str, job: str, size: int, env: Mapping[str, str] | None = None) -> Numbers:
    bench.say(what)
    argv = [sys.executable, "-m", program, job, str(size)]
    whole = {**os.environ, **(env or {})}
    try:
        done = subprocess.run(argv, cwd=ROOT, env=whole, capture_output=True, timeout=_JOB_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise JobFailed(f"{what}: not done after {_JOB_S} s") from error
    if done.returncode:
        raise JobFailed(f"{what}: {done.stderr.decode(errors='replace').strip()[-2000:]}")
    numbers: Numbers = json.loads(done.stdout)
    bench.measured[what] = numbers
    return numbers
