"""Signals, such as typing marks: sent and never stored. A slow listener loses the oldest."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

_KEPT = 256
SignalKind = Literal["agent.online", "agent.offline", "agent.typing", "hub.stopping"]
SignalListener = Callable[[SignalKind, Any], None]


class Signals:
    """Sends a signal to whoever listens at the moment."""

    def __init__(self) -> None:
        self._listeners: list[SignalListener] = []

    def emit(self, kind: SignalKind, payload: Any) -> None:
        """Notify all listeners; never waits."""
        for listener in tuple(self._listeners):
            listener(kind, payload)

    def listen(self, listener: SignalListener) -> Callable[[], None]:
        """Call `listener` with each signal; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def stream(self) -> AsyncIterator[tuple[SignalKind, Any]]:
        """Signals as they come, at most a bounded number behind."""
        kept: deque[tuple[SignalKind, Any]] = deque(maxlen=_KEPT)
        wake = asyncio.Event()

        def hear(kind: SignalKind, payload: Any) -> None:
            kept.append((kind, payload))
            wake.set()

        end = self.listen(hear)
        try:
            while True:
                while kept:
                    yield kept.popleft()
                wake.clear()
                await wake.wait()
        finally:
            end()
