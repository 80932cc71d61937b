"""Sends frames over one WebSocket and closes it, the same for every door that uses frames."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from starlette.types import Send

from greenroom.doors.http.frame_queue import SEND_S, F, FrameQueue

_TOO_SLOW = 4408


class WebSocketSender(FrameQueue[F]):
    """An outbox whose frames go to a WebSocket. A client that does not read is disconnected, and learns what to do."""

    __slots__ = ("_too_slow", "ending")

    def __init__(self, limit_bytes: int, too_slow: str) -> None:
        super().__init__(limit_bytes)
        self._too_slow = too_slow
        self.ending: tuple[int, str] | None = None
        """The code and the reason with which we close the socket; None when nobody would receive them."""

    def send(self, frame: F) -> None:
        """Send a frame when the client takes it."""
        self.put((frame, len(frame)))

    def close(self, code: int, reason: str) -> None:
        """Send nothing more than this."""
        self.ending = (code, reason)
        self.end()

    async def serve(self, send: Send, *beside: Coroutine[Any, Any, None]) -> None:
        """Send frames until the line has ended. Tasks beside that end with it."""
        async with asyncio.TaskGroup() as tasks:
            others = [tasks.create_task(one) for one in beside]
            try:
                with contextlib.suppress(TimeoutError, OSError):  # it does not read, or it has gone
                    await self._write(send)
            finally:
                for other in others:
                    other.cancel()

    async def _write(self, send: Send) -> None:
        while (frame := await self.take()) is not None:
            async with asyncio.timeout(SEND_S):
                await send({"type": "websocket.send", "text" if isinstance(frame, str) else "bytes": frame})
        if self.overflowed:
            self.ending = (_TOO_SLOW, self._too_slow)
        if self.ending is not None:
            code, reason = self.ending
            async with asyncio.timeout(SEND_S):
                await send({"type": "websocket.close", "code": code, "reason": reason})
