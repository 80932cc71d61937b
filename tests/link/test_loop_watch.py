"""The watchdog of the event loop: it counts a loop that computes, and does not blame it for a busy machine."""

import asyncio
import contextlib
import os
import re
import resource
import signal
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
import uvloop

from greenroom.link.loop_watch import LoopWatch
from greenroom.testing.hub_process import HubProcess, wait_until

PAUSE_MS = 100
TRIES = 20


@contextlib.asynccontextmanager
async def watched(pause_ms: int = PAUSE_MS) -> AsyncIterator[LoopWatch]:
    watch = LoopWatch(pause_ms)
    task = asyncio.create_task(watch.run())
    await asyncio.sleep(0)
    try:
        yield watch
        await asyncio.sleep(2 * pause_ms / 1000)  # the beat after the pause
    finally:
        task.cancel()
        await asyncio.wait([task])


def compute(seconds: float) -> None:
    """Use so much CPU time of this thread, however long that takes."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def run(loop: Callable[[], asyncio.AbstractEventLoop], work: Callable[[], None]) -> LoopWatch:
    async def go() -> LoopWatch:
        async with watched() as watch:
            work()
        return watch

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(go())


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_computes_is_reported_with_where_it_was(
    loop: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(TRIES):
        caplog.clear()
        watch = run(loop, lambda: compute(0.6))
        assert watch.numbers.busy == 1
        assert watch.numbers.longest_busy_ms >= 500
        [message] = [text for text in caplog.messages if "computed" in text]
        if "It was here" in message:  # on a busy machine the sample may come too late to be kept
            assert "compute\n" in message
            return
    pytest.fail("no pause was reported with where the loop was")


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_had_nothing_to_do_is_watched_as_soon_as_it_has(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def go() -> LoopWatch:
        async with watched() as watch:
            await asyncio.sleep(0.5)
            compute(0.6)
            await asyncio.sleep(0.5)
            compute(0.6)
        return watch

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(go()).numbers.busy == 2


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_was_queued_before_a_beat_is_watched_too(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def go() -> LoopWatch:
        async with watched() as watch:
            asyncio.get_running_loop().call_later(0.001, lambda: asyncio.get_running_loop().call_soon(compute, 0.6))
            compute(0.05)  # the timer above and the beat come in one go, and then what the timer has queued
            await asyncio.sleep(0.1)
        return watch

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(go()).numbers.busy == 1


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_with_nothing_to_do_is_not_woken(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def go() -> int:
        async with watched(pause_ms=4):
            await asyncio.sleep(0.5)
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            await asyncio.sleep(0.5)
            return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(go()) < 50  # with a beat every millisecond there would be hundreds


def test_a_loop_that_waits_is_not_said_to_compute() -> None:
    watch = run(asyncio.new_event_loop, lambda: time.sleep(0.6))
    assert watch.numbers.busy == 0
    assert watch.numbers.blocked + watch.numbers.starved == 1


def test_a_thread_that_keeps_the_interpreter_is_a_pause_of_the_loop() -> None:
    """As one long match of a pattern does, which cannot be interrupted."""

    async def go() -> LoopWatch:
        async with watched() as watch:
            matching = asyncio.create_task(asyncio.to_thread(re.search, "(x+x+)+y", "x" * 22))
            answer(matching)
            await matching
        return watch

    def answer(until: asyncio.Task[Any]) -> None:
        """There is always something to do."""
        if not until.done():
            asyncio.get_running_loop().call_soon(answer, until)

    for _ in range(TRIES):  # on a busy machine the thread gets its time in pieces, and the loop waits for the machine
        if (numbers := asyncio.run(go()).numbers).held:
            assert numbers.busy == 0
            return
    pytest.fail("nobody has noticed")


def test_a_loop_with_much_to_do_that_lets_others_go_on_has_no_pause() -> None:
    async def go() -> LoopWatch:
        async with watched() as watch:
            for _ in range(200):
                compute(0.005)
                await asyncio.sleep(0)
        return watch

    assert asyncio.run(go()).numbers.busy == 0


def test_a_thread_that_computes_is_no_pause_of_the_loop() -> None:
    async def go() -> LoopWatch:
        async with watched() as watch:
            await asyncio.gather(*[asyncio.to_thread(compute, 0.5) for _ in range(4)])
        return watch

    assert asyncio.run(go()).numbers.busy == 0


def test_a_hub_that_was_stopped_by_a_signal_has_not_computed(hub: HubProcess, api: httpx.Client) -> None:
    before = api.get("/api/metrics").json()["loop"]

    def paused() -> bool:
        """While it has nothing to do nobody is kept waiting, and nothing is counted."""
        api.get("/api/metrics")
        os.kill(hub.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(hub.pid, signal.SIGCONT)
        now = api.get("/api/metrics").json()["loop"]
        assert now["busy"] == before["busy"]
        return bool(now["blocked"] + now["starved"] > before["blocked"] + before["starved"])

    wait_until(paused)
    told = api.get("/api/metrics", headers={"accept": "text/plain"}).text
    assert 'greenroom_loop_pauses_total{kind="busy"}' in told


def test_nothing_is_watched_when_the_setting_is_zero() -> None:
    async def go() -> LoopWatch:
        watch = LoopWatch(0)
        await watch.run()
        return watch

    assert asyncio.run(go()).numbers.busy == 0
