"""Token buckets: limits on how often something happens and how many bytes arrive."""

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
        now = time.monotonic()
        left = self._left + (now - self._at) * self._rate
        self._at = now
        self._left = left = self._size if left > self._size else left
        if left < count and left < self._size:
            return False
        self._left = left - count
        return True

    def owe(self, count: float) -> float:
        """Take so many, be they there or not; returns the seconds until nothing is owed."""
        self.take(0)  # which fills it by the time that has passed
        self._left -= count
        return max(0.0, -self._left / self._rate)
