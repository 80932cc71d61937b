"""An event loop in its own thread, for code that would disturb the hub's loop."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs from the moment it is made until it is closed."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name=name, daemon=True)
        self._thread.start()

    def _run_loop(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What comes of it over there."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def end_tasks(self) -> None:
        """Cancel everything that runs there."""
        await self.run(_end_others())

    def close(self) -> None:
        """To be called when nothing runs there any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
