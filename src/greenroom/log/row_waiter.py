"""Waits until a row meets a condition. The commits that change the row wake the waiter."""

import asyncio
from collections.abc import Callable

from greenroom.log.log import Log
from greenroom.log.model import Commit, R, Table


async def wait_for_row(log: Log, table: Table[R], key: str, is_over: Callable[[R], bool], timeout_s: float) -> R | None:
    """The row once it meets the condition; None without such a row, or when the time is up."""
    changed = asyncio.Event()

    def on_commit(commit: Commit) -> None:
        if any(change.key == key for change in commit.changes):
            changed.set()

    leave = log.subscribe(on_commit, table)
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                row = log.rows.get(table, key)
                if row is None or is_over(row):
                    return row
                changed.clear()
                await changed.wait()
    except TimeoutError:
        return None
    finally:
        leave()
