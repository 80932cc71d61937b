"""The thread in which commits wait for the disk."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue


class CommitThread:
    """Commits on request, while the loop continues. A pool would do the same at twice the price."""

    def __init__(self, commit: Callable[[], None]) -> None:
        self._commit = commit
        self._orders: SimpleQueue[asyncio.Future[None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="greenroom-commit", daemon=True)
        self._thread.start()

    async def commit(self) -> None:
        """Commit. A cancelled caller still waits for the end, because nobody else could."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._orders.put(done)
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            await asyncio.wait([done])
            raise

    def close(self) -> None:
        """Finish the commits in progress."""
        self._orders.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (done := self._orders.get()) is not None:
            error: BaseException | None = None
            try:
                self._commit()
            except BaseException as caught:  # it belongs to who ordered the commit
                error = caught
            done.get_loop().call_soon_threadsafe(_settle, done, error)


def _settle(done: "asyncio.Future[None]", error: BaseException | None) -> None:
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
