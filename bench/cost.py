"""What one post costs the hub in processor time, by thread, beside the raw limit; fair on a loaded machine too.

`.venv/bin/python -m bench.cost [rest|mcp] [--clients 64] [--seconds 3] [--rounds 2]`
"""

import argparse
import sys

import psutil

from bench.job_posts import PostsJob, PostsResult
from bench.run import Bench, Scale
from bench.section_posts import LIMITS

ThreadTimes = dict[int, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("door", nargs="?", choices=["rest", "mcp"], default="rest")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    bench = Bench(Scale(), with_peer=False, say=lambda text: print(text, file=sys.stderr))
    with bench.servers("greenroom", LIMITS[options.door]) as up:
        for _ in range(options.rounds):
            for name, started in up.items():
                job = PostsJob(started.target, options.door, options.clients, options.seconds)
                before = threads_of(started.target.pid)
                found = bench.measure(name, job, PostsResult)
                print(
                    f"{name:10} {found.per_s:8,.0f}/s {found.cpu_us_each:6.1f} us each, {found.errors} errors;", end=""
                )
                print(" by thread:", *shares(before, threads_of(started.target.pid)))


def threads_of(pid: int) -> ThreadTimes:
    return {thread.id: thread.user_time + thread.system_time for thread in psutil.Process(pid).threads()}


def shares(before: ThreadTimes, after: ThreadTimes) -> list[str]:
    """How the time was spread over the threads that took part."""
    used = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    return [f"{seconds / sum(used):.0%}" for seconds in used if seconds > 0.02 * sum(used)]


if __name__ == "__main__":
    main()
