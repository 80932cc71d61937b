"""The same workflows on Greenroom's embedded engine, on a hand-written baseline, and on other engines."""

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.report import Goal, Row, compare_speed, compare_times, divide
from bench.run import Bench, JobFailed
from bench.servers import ROOT, WORK

PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "LangGraph": ("langgraph_sqlite", ("langgraph", "langgraph-checkpoint-sqlite")),
    "DBOS": ("dbos_sqlite", ("dbos",)),
    "Prefect": ("prefect_flow", ("prefect", "fastapi<0.142")),
}
"""Other engines: the program that drives them, and what is installed for it (Prefect wants an older FastAPI)."""
_JOB_S = 600
_KB = 10.0
Numbers = dict[str, float]


def measure_workflows(bench: Bench) -> list[Row]:
    scale = bench.scale
    engines: dict[str, list[str]] = {
        "Greenroom": [sys.executable, "-m", "bench.flows.greenroom_flow"],
        "baseline": [sys.executable, "-m", "bench.flows.baseline"],
    }
    rows: list[Row] = []
    for name in PEERS if bench.with_peer else ():
        python, why = _environment(name, bench.say)
        if python is None:
            rows.append(Row(f"workflows on {name}", "", name, f"left out: {why[:100]}"))
        else:
            engines[name] = [str(python), "-m", f"bench.flows.{PEERS[name][0]}"]
    sizes = {"chain": scale.flow_chain, "fan": scale.flow_fan, "waits": scale.flow_waits}
    took: dict[tuple[str, str], Numbers] = {}
    left_out = {("Prefect", "waits"): "a paused run of it is polled for: minutes for fifty"}
    for job, size in sizes.items():
        found: dict[str, list[Numbers]] = {}
        for _ in range(scale.flow_rounds):  # in turns, so that a busy moment is everybody's
            for name, argv in engines.items():
                if (name, job) in left_out:
                    continue
                try:
                    found.setdefault(name, []).append(_run(bench, f"workflows: {job} on {name}", argv, job, size))
                except JobFailed as failed:
                    if name not in PEERS:
                        raise
                    left_out[name, job] = str(failed).strip().splitlines()[-1]
        for name, several in ((name, several) for name, several in found.items() if several):
            took[name, job] = {key: statistics.median(one[key] for one in several) for key in several[0]}
    rows += [
        Row(f"workflow: {job} on {name}", "", name, f"left out: {why[:100]}") for (name, job), why in left_out.items()
    ]
    return rows + _compared(sizes, took) + _alone(bench, engines["Greenroom"])


def _environment(name: str, say: Callable[[str], None]) -> tuple[Path | None, str]:
    """The Python of a peer's environment; it is made on first use. None and the reason when it cannot be."""
    home = WORK / name.lower()
    python = home / "bin" / "python"
    mark = home / "installed"
    if mark.exists():
        return python, ""
    say(f"installing {name}")
    WORK.mkdir(exist_ok=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS[name][1]]
    for argv in ([sys.executable, "-m", "venv", str(home)], pip):
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(home, ignore_errors=True)
            return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed"
    mark.touch()
    return python, ""


def _run(bench: Bench, what: str, argv: list[str], job: str, size: int) -> Numbers:
    bench.say(what)
    try:
        done = subprocess.run([*argv, job, str(size)], cwd=ROOT, capture_output=True, timeout=_JOB_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise JobFailed(f"{what}: not done after {_JOB_S} s") from error
    if done.returncode:
        raise JobFailed(f"{what}: {done.stderr.decode(errors='replace').strip()[-2000:]}")
    numbers: Numbers = json.loads(done.stdout)
    bench.measured[what] = numbers
    return numbers


_GOALS: dict[tuple[str, str], Goal] = {
    ("baseline", "chain"): Goal(at_most=2.5),
    ("baseline", "fan"): Goal(at_most=5),
    ("LangGraph", "chain"): Goal(at_least=2),
    ("LangGraph", "fan"): Goal(at_least=10),
    ("LangGraph", "waits"): Goal(at_least=10),
}


def _compared(sizes: dict[str, int], took: dict[tuple[str, str], Numbers]) -> list[Row]:
    rows = []
    for (name, job), numbers in took.items():
        if name == "Greenroom":
            continue
        ours = took["Greenroom", job]
        words = {"chain": "a chain of {} steps", "fan": "a fan-out of {} with a join", "waits": "{} waits"}[job]
        what = f"workflow: {words.format(f'{sizes[job]:,}')}"
        compare = compare_times if name == "baseline" else compare_speed
        goal = _GOALS.get((name, job))
        if job != "waits":
            rows.append(compare(what, ours["s"] * 1000, name, numbers["s"] * 1000, goal))
            continue
        for part, said in (("park_s", "parked"), ("signal_s", "signalled and ended")):
            rows.append(compare(f"{what} {said}", ours[part] * 1000, name, numbers[part] * 1000, goal))
    return rows


def _alone(bench: Bench, argv: list[str]) -> list[Row]:
    """What there is nothing to compare with."""
    scale = bench.scale
    parked = _run(bench, "workflows: parked", argv, "parked", scale.flow_parked)
    waking = _run(bench, "workflows: waking", argv, "waking", scale.flow_waking)
    resume = _run(bench, "workflows: resume", argv, "resume", 50)
    cancel = _run(bench, "workflows: cancel", argv, "cancel", 0)
    many, woken = f"{scale.flow_parked:,}", f"{scale.flow_waking:,}"
    return [
        Row(
            f"{many} parked runs: memory each",
            f"{parked['kb_each']:.1f} kB",
            goal=Goal(at_most=_KB),
            judged=parked["kb_each"],
        ),
        Row(
            f"{many} parked runs: processor while idle",
            f"{parked['idle_share'] * 100:.2f} %",
            goal=Goal(at_most=0.5),
            judged=parked["idle_share"] * 100,
        ),
        Row(f"{woken} runs that wait for a person: memory each", f"{waking['kb_each']:.1f} kB"),
        Row(f"{woken} runs that wait for a person: hub ready again", f"{waking['start_s']:.2f} s"),
        Row(f"{woken} runs that wait for a person: all answered and ended", f"{waking['signal_s']:.2f} s"),
        Row(
            "kill -9 in a chain: opening to the next step's end",
            f"{resume['s']:.2f} s",
            goal=Goal(at_most=0.5),
            judged=resume["s"],
        ),
        Row(
            f"a tree of {cancel['runs']:.0f} workflow runs cancelled",
            f"{cancel['s']:.2f} s",
            goal=Goal(at_most=0.3),
            judged=cancel["s"],
        ),
        Row("  and of them still at work", f"{cancel['live']:.0f}", goal=Goal(at_most=0), judged=cancel["live"]),
        Row("  runs ended in a second", f"{divide(cancel['runs'], cancel['s']):,.0f}/s"),
    ]
