"""Agents that wait: how soon one wakes up, and what a thousand of them cost."""

from collections.abc import Callable
from statistics import median

from bench.job_waiters import WaitersJob, WaitersResult
from bench.job_wake import BareJob, WakeJob, WakeResult
from bench.report import Goal, Row, compare_speed, compare_times, count_faults, divide
from bench.run import Bench


def measure_wake(bench: Bench) -> list[Row]:
    samples = bench.scale.wakes
    woken: dict[str, WakeResult] = {}
    with bench.servers("greenroom", "peer", "raw", "noop") as up:
        job = BareJob(up["raw"].target, up["noop"].target, samples)
        bare = bench.measure("bare round trip", job, WakeResult).times
        for name in bench.buses:
            woken[name] = bench.measure(f"wake-up, {name}", WakeJob(up[name].target, samples), WakeResult)
    ours, peer = woken["greenroom"], woken.get("peer")
    times = ours.times
    rows = [
        compare_times("wake-up, p50", times.p50_ms, "bare round trip", bare.p50_ms),
        compare_times("wake-up, p99", times.p99_ms, "bare round trip", bare.p99_ms, Goal(at_most=2)),
    ]
    if peer is not None:
        rows += [
            compare_speed("wake-up, p50", times.p50_ms, "peer", peer.times.p50_ms),
            compare_speed("wake-up, p99", times.p99_ms, "peer", peer.times.p99_ms, Goal(at_least=10)),
        ]
    return [*rows, count_faults("wake-up: errors", ours.errors, peer.errors if peer else None)]


def measure_waiters(bench: Bench) -> list[Row]:
    waiters = bench.scale.waiters
    results: dict[str, WaitersResult] = {}
    for name in bench.buses:
        with bench.servers(name) as up:
            job = WaitersJob(up[name].target, waiters, bench.scale.idle_s, bench.scale.mass_wakes)
            results[name] = bench.measure(f"{waiters:,} waiters, {name}", job, WaitersResult)
    ours, peer = results["greenroom"], results.get("peer")
    what = f"{waiters:,} waiters"
    return [
        compare_values(f"{what}, memory each", "kB", ours, peer, lambda r: r.kb_each, Goal(at_most=80)),
        compare_values(f"{what}, last one woken", "s", ours, peer, lambda r: median(r.last_woken_s), Goal(at_most=0.5)),
        compare_values(f"{what}, idle processor", "%", ours, peer, lambda r: r.idle_cpu_percent, Goal(at_most=2)),
        compare_values(f"{what}, time to register them", "s", ours, peer, lambda r: r.register_s),
        count_faults(f"{what}: errors", ours.errors, peer.errors if peer else None),
    ]


def compare_values(
    what: str,
    unit: str,
    ours: WaitersResult,
    peer: WaitersResult | None,
    read: Callable[[WaitersResult], float],
    goal: Goal | None = None,
) -> Row:
    """The goal is about our value itself, not about the ratio."""
    value = read(ours)
    row = Row(what, f"{value:.2f} {unit}", goal=goal, judged=value)
    if peer is not None:
        row.against, row.other, row.ratio = "peer", f"{read(peer):.2f} {unit}", divide(value, read(peer))
    return row
