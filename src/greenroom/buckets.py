"""Token buckets: how often something may happen, or how many bytes may come."""

import time


class Bucket:
    """So many at once, then so many a second."""

    __slots__ = ("_at", "_left", "_rate", "_size")

    def __init__(self, size: float, rate: float) -> None:
        self._size = self._left = size
        self._rate = rate
        self._at = time.monotonic()

    def take(self, count: float = 1) -> bool:
        """Take so many if they are there. More than fit into it are taken when it is full, and are owed then."""
        self._fill()
        if self._left < min(count, self._size):
            return False
        self._left -= count
        return True

    def owe(self, count: float) -> float:
        """Take so many, be they there or not; returns the seconds until nothing is owed."""
        self._fill()
        self._left -= count
        return max(0.0, -self._left / self._rate)

    def _fill(self) -> None:
        now = time.monotonic()
        self._left = min(self._size, self._left + (now - self._at) * self._rate)
        self._at = now
