"""Percentiles of measured times, and the processor time of a server."""

from collections.abc import Sequence

import msgspec
import psutil


class Times(msgspec.Struct):
    """Milliseconds."""

    count: int
    p50_ms: float
    p99_ms: float
    max_ms: float


def find_percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def summarise(seconds: Sequence[float]) -> Times:
    if not seconds:
        return Times(0, 0.0, 0.0, 0.0)
    ordered = sorted(seconds)
    return Times(
        count=len(ordered),
        p50_ms=find_percentile(ordered, 0.50) * 1000,
        p99_ms=find_percentile(ordered, 0.99) * 1000,
        max_ms=ordered[-1] * 1000,
    )


def cpu_s(server: psutil.Process) -> float:
    times = server.cpu_times()
    return times.user + times.system
