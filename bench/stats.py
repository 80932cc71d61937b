"""Percentiles of measured times."""

from collections.abc import Sequence

import msgspec


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
