"""Limits how fast the hub reads from each node."""

import asyncio

from greenroom.buckets import Bucket
from greenroom.services.hub import Hub

_LONGEST_S = 5.0


class NodeRateLimits:
    """One bucket of bytes for each node; it outlasts the node's connections."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._buckets: dict[str, Bucket] = {}

    async def wait(self, node_id: str, size: int) -> None:
        """Wait until a node may send more. Meanwhile it gets acknowledgements and stays connected."""
        per_minute = self._hub.settings.node_bytes_per_minute
        if per_minute <= 0:
            return
        bucket = self._buckets.setdefault(node_id, Bucket(per_minute, per_minute / 60))
        if wait_s := bucket.owe(size):
            self._hub.limited["node_bytes_per_minute"] += 1
            await asyncio.sleep(min(wait_s, _LONGEST_S))
