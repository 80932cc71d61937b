"""Threads that are long, and one that is crowded."""

from bench.job_cycles import CyclesJob, CyclesResult
from bench.job_history import HistoryJob, HistoryResult
from bench.report import Goal, Row, compare_rates, compare_times, count_faults, divide
from bench.run import Bench
from bench.servers import run_greenroom, scratch

SHORT = 100
AGENTS = 64


def measure_history(bench: Bench) -> list[Row]:
    scale = bench.scale
    size = f"{scale.long_thread:,}"
    empty_s, full_s = [], []
    with scratch("greenroom") as data:
        with run_greenroom(data) as hub, scratch("greenroom") as other, run_greenroom(other) as small:
            job = HistoryJob(small.target, hub.target, SHORT, scale.long_thread, scale.reads)
            seen = bench.measure(f"hubs with {SHORT} and {size} messages", job, HistoryResult)
        for _ in range(scale.starts):
            bench.say("start-up")
            with run_greenroom(data) as hub:
                full_s.append(hub.start_s)
            with scratch("greenroom") as empty, run_greenroom(empty) as hub:
                empty_s.append(hub.start_s)
    short, goal = f"{SHORT} messages", Goal(at_most=1.3)
    read_ms, post_ms = (seen.read_long.p50_ms, seen.read_short.p50_ms), (seen.post_long.p50_ms, seen.post_short.p50_ms)
    return [
        compare_times(f"read the last 50 of {size} messages, p50", read_ms[0], short, read_ms[1], goal),
        compare_times(f"post into {size} messages, p50", post_ms[0], short, post_ms[1], goal),
        Row(f"fill one thread over REST, 64 clients, {size} messages", f"{seen.fill_per_s:,.0f}/s"),
        count_faults(f"{size} messages: lost", seen.loss.lost, None),
        count_faults(f"{size} messages: doubled", seen.loss.doubled, None),
        Row(
            f"start-up with {size} messages",
            f"{min(full_s):.2f} s",
            "empty directory",
            f"{min(empty_s):.2f} s",
            divide(min(full_s), min(empty_s)),
        ),
    ]


def measure_cycles(bench: Bench) -> list[Row]:
    results: dict[str, CyclesResult] = {}
    for name in bench.buses:
        with bench.servers(name) as up:
            job = CyclesJob(up[name].target, AGENTS, bench.scale.cycle_s)
            results[name] = bench.measure(f"{AGENTS} agents in one thread, {name}", job, CyclesResult)
    ours, peer = results["greenroom"], results.get("peer")
    what = f"{AGENTS} agents in one thread"
    cycles = Row(f"{what}, cycles", f"{ours.per_s:,.0f}/s")
    if peer is not None:
        cycles = compare_rates(f"{what}, cycles", ours.per_s, "peer", peer.per_s, Goal(at_least=50))
    return [
        cycles,
        count_faults(f"{what}: accepted out of order", ours.broken, peer.broken if peer else None),
        count_faults(f"{what}: errors", ours.errors, peer.errors if peer else None),
        count_faults(f"{what}: lost", ours.loss.lost, peer.loss.lost if peer else None),
        count_faults(f"{what}: doubled", ours.loss.doubled, peer.loss.doubled if peer else None),
    ]
