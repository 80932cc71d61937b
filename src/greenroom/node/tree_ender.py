"""Ends many process trees together: finding the processes takes as long for a thousand trees as for one."""

import asyncio
from weakref import WeakKeyDictionary

from greenroom.runtimes.process_trees import end_trees


class TreeEnder:
    """Trees that are to be ended while others are being ended wait, and are then ended at once."""

    def __init__(self) -> None:
        self._roots: dict[str, int | None] = {}
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._working: asyncio.Task[None] | None = None

    async def end(self, mark: str, root: int | None) -> None:
        """Returns when nothing of the tree is left."""
        self._roots[mark] = root if root is not None else self._roots.get(mark)
        over = self._over
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="ends trees")
        await asyncio.shield(over)

    async def _work(self) -> None:
        while self._roots:
            roots, over = self._roots, self._over
            self._roots, self._over = {}, asyncio.get_running_loop().create_future()
            try:
                await asyncio.to_thread(end_trees, roots)
            except Exception as error:
                over.set_exception(error)
            else:
                over.set_result(None)
        self._working = None


_enders: WeakKeyDictionary[asyncio.AbstractEventLoop, TreeEnder] = WeakKeyDictionary()


async def end_tree_soon(mark: str, root: int | None = None) -> None:
    """Kill a tree until nothing of it is left, together with the others that are to be ended now."""
    loop = asyncio.get_running_loop()
    if loop not in _enders:
        _enders[loop] = TreeEnder()
    await _enders[loop].end(mark, root)
