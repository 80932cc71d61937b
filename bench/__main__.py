"""`python -m bench`: measure everything in one run and print one table."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, strftime

import apsw
import msgspec

from bench.report import Row, format_table
from bench.run import QUICK, Bench, JobFailed, Scale
from bench.section_agents import measure_agents
from bench.section_asks import measure_asks
from bench.section_hubs import measure_hubs
from bench.section_page import measure_page
from bench.section_policy import measure_policy
from bench.section_posts import measure_posts
from bench.section_threads import measure_cycles, measure_history
from bench.section_waiting import measure_waiters, measure_wake
from bench.section_workflows import measure_workflows
from bench.servers import Missing, install_peer

SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "posts": measure_posts,
    "wake": measure_wake,
    "waiters": measure_waiters,
    "history": measure_history,
    "cycles": measure_cycles,
    "policy": measure_policy,
    "asks": measure_asks,
    "workflows": measure_workflows,
    "hubs": measure_hubs,
    "page": measure_page,
    "agents": measure_agents,
}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller and shorter: less than two minutes")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measured number there")
    options = parser.parse_args()
    options.only = options.only.split(",")
    unknown = [name for name in options.only if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    return options


def say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(f"{strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    options = parse_options()
    bench = Bench(QUICK if options.quick else Scale(), with_peer=not options.no_peer, say=say)
    start, load_before = perf_counter(), os.getloadavg()[0]
    rows: list[Row] = []
    try:
        if bench.with_peer:
            say("looking for the peer")
            install_peer()
        for name in options.only:
            rows += SECTIONS[name](bench)
    except (Missing, JobFailed) as error:
        print(f"\nbench: {error}", file=sys.stderr)
        return 1
    say(f"done in {perf_counter() - start:.0f} s\n")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()},", end=" ")
    print(f"load of the machine {load_before:.1f} before and {os.getloadavg()[0]:.1f} after\n")
    print(format_table(rows))
    if options.json:
        report = {"rows": rows, "measured": bench.measured}
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
