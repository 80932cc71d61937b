"""The load generator's own process: reads one job from its input, does it, and writes the result to its output."""

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import uvloop

from bench.job_cycles import CyclesJob, run_cycles
from bench.job_history import HistoryJob, run_history
from bench.job_posts import PostsJob, run_posts
from bench.job_waiters import WaitersJob, run_waiters
from bench.job_wake import BareJob, WakeJob, run_bare, run_wake
from bench.wire import WireError

Job = PostsJob | WakeJob | BareJob | WaitersJob | HistoryJob | CyclesJob

RUNS: dict[type, Callable[[Any], Awaitable[Any]]] = {
    PostsJob: run_posts,
    WakeJob: run_wake,
    BareJob: run_bare,
    WaitersJob: run_waiters,
    HistoryJob: run_history,
    CyclesJob: run_cycles,
}


async def work(job: Job) -> Any:
    return await RUNS[type(job)](job)


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        result = uvloop.run(work(job))
    except (WireError, OSError, TimeoutError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(msgspec.json.encode(result))


if __name__ == "__main__":
    main()
