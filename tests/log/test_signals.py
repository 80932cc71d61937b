"""Signals reach who listens now, and a slow listener costs nobody anything."""

import asyncio
from typing import Any

import pytest

from greenroom.log.signals import Signals

pytestmark = pytest.mark.anyio


async def test_a_listener_hears_what_is_sent_until_it_ends() -> None:
    signals = Signals()
    heard: list[tuple[str, Any]] = []
    end = signals.listen(lambda kind, payload: heard.append((kind, payload)))
    signals.emit("typing", 1)
    end()
    signals.emit("typing", 2)
    assert heard == [("typing", 1)]


async def test_a_stream_that_does_not_keep_up_loses_the_oldest_and_stays_bounded() -> None:
    signals = Signals()
    stream = signals.stream()
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    for number in range(10_000):
        signals.emit("typing", number)
    assert await first == ("typing", 10_000 - 256)
    rest = [await anext(stream) for _ in range(255)]
    assert rest[-1] == ("typing", 9_999)
    await stream.aclose()  # type: ignore[attr-defined]


async def test_a_stream_that_ends_is_forgotten() -> None:
    signals = Signals()
    stream = signals.stream()
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    signals.emit("typing", 1)
    await waiting
    await stream.aclose()  # type: ignore[attr-defined]
    assert signals._listeners == []
