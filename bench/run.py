"""One run of the benchmark: starts servers, gives jobs to the load generator, keeps what was measured."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import msgspec

from bench.load import Job
from bench.servers import ROOT, Started, run_greenroom, run_noop, run_peer, run_raw, scratch

JOB_LIMIT_S = 300
Result = TypeVar("Result")


class JobFailed(Exception):
    """The load generator could not do its job; the text is what it said."""


class Scale(msgspec.Struct):
    """How much is measured."""

    post_s: float = 3
    rounds: int = 2
    wakes: int = 250
    waiters: int = 1000
    idle_s: float = 5
    mass_wakes: int = 3
    long_thread: int = 100_000
    reads: int = 300
    starts: int = 3
    cycle_s: float = 10
    flow_rounds: int = 3
    flow_chain: int = 200
    flow_fan: int = 1000
    flow_waits: int = 1000
    flow_parked: int = 10_000
    flow_waking: int = 5000
    agent_turns: int = 40
    agent_starts: int = 3
    agents_idle: int = 20
    page_s: float = 60


QUICK = Scale(
    post_s=1,
    rounds=1,
    wakes=200,
    waiters=500,
    idle_s=2,
    mass_wakes=1,
    long_thread=20_000,
    reads=100,
    starts=1,
    cycle_s=4,
    flow_rounds=1,
    flow_fan=500,
    flow_waits=100,
    flow_parked=2000,
    flow_waking=500,
    agent_turns=10,
    agent_starts=1,
    agents_idle=5,
    page_s=10,
)


class Bench(msgspec.Struct):
    """One run: its size, who takes part, and everything that was measured."""

    scale: Scale
    with_peer: bool
    say: Callable[[str], None]
    measured: dict[str, object] = {}

    @property
    def buses(self) -> list[str]:
        return ["greenroom", "peer"] if self.with_peer else ["greenroom"]

    def measure(self, name: str, job: Job, result_type: type[Result]) -> Result:
        self.say(name)
        argv, task = [sys.executable, "-m", "bench.load"], msgspec.json.encode(job)
        try:
            done = subprocess.run(argv, cwd=ROOT, input=task, capture_output=True, timeout=JOB_LIMIT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise JobFailed(f"{name}: not done after {JOB_LIMIT_S} s") from error
        if done.returncode:
            raise JobFailed(f"{name}: {done.stderr.decode(errors='replace').strip()[-2000:]}")
        result = msgspec.json.decode(done.stdout, type=result_type)
        self.measured[name] = result
        return result

    @contextmanager
    def servers(self, *names: str) -> Iterator[dict[str, Started]]:
        with ExitStack() as stack:
            started = {}
            for name in names:
                if name != "peer" or self.with_peer:
                    self.say(f"starting {name}")
                    data = stack.enter_context(scratch(name))
                    started[name] = stack.enter_context(RUNNERS[name](data))
            yield started


RUNNERS = {"greenroom": run_greenroom, "peer": run_peer, "raw": run_raw, "noop": run_noop}
