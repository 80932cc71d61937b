"""Prefect with the server that it starts by itself: every step is a task."""

import os
from pathlib import Path

from bench.flows.timing import Watch, main


def _settle(folder: Path) -> None:
    """Keep everything inside the scratch folder, and quiet."""
    os.environ.update(
        PREFECT_HOME=str(folder),
        PREFECT_LOGGING_LEVEL="CRITICAL",
        PREFECT_SERVER_ANALYTICS_ENABLED="false",
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE="true",
        PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="120",
        DO_NOT_TRACK="1",
    )


def chain(folder: Path, size: int) -> dict[str, float]:
    _settle(folder)
    from prefect import flow, task

    @task
    def one(n: int) -> int:
        return n + 1

    @flow
    def run(count: int) -> int:
        n = 0
        for _ in range(count):
            n = one(n)
        return n

    run(1)
    watch = Watch()
    run(size)
    return {"s": watch.s()}


def fan(folder: Path, size: int) -> dict[str, float]:
    _settle(folder)
    from prefect import flow, task

    @task
    def one(n: int) -> int:
        return n

    @flow
    def run(count: int) -> int:
        return len([future.result() for future in [one.submit(n) for n in range(count)]])

    run(1)
    watch = Watch()
    run(size)
    return {"s": watch.s()}


if __name__ == "__main__":
    main({"chain": chain, "fan": fan})
