"""The hash chain of privileged events: each link includes the one before it, so that a change is detected."""

import hashlib
from collections.abc import Iterator
from typing import Any

GENESIS = b"\0" * 32
Raw = tuple[int, int, str, str, int, bytes]
"""An event as it is stored: seq, time, actor, name, version, data."""


def hash_link(previous: bytes, recorded: Raw) -> bytes:
    """The hash of a privileged event, over the one before it."""
    seq, at, by, name, version, data = recorded
    head = f"{seq}\x1f{at}\x1f{by}\x1f{name}\x1f{version}\x1f".encode()
    return hashlib.sha256(previous + head + data).digest()


class Chain:
    """Follows the hash chain of privileged events beside the log."""

    def __init__(self, connection: Any, privileged: set[str]) -> None:
        self._links: Iterator[tuple[int, bytes]] = connection.execute("SELECT seq, hash FROM chain ORDER BY seq")
        self._next = next(self._links, None)
        self._privileged = privileged
        self.seq = 0
        self.hash = GENESIS
        self.broken = False

    def follow(self, raw: Raw) -> str | None:
        """What is wrong with the chain at this event; only the first fault is reported."""
        linked = self._next is not None and self._next[0] == raw[0]
        if self.broken or (not linked and raw[3] not in self._privileged):
            return None
        if not linked or self._next is None:
            self.broken = True
            return f"Event {raw[0]} is privileged but has no link in the chain."
        self.hash, self.seq = hash_link(self.hash, raw), raw[0]
        self.broken = self.hash != self._next[1]
        self._next = next(self._links, None)
        return (
            f"Event {raw[0]} was changed, or an earlier privileged one: the chain breaks here." if self.broken else None
        )

    def get_surplus_link(self) -> int | None:
        """The first link that belongs to no event gone through."""
        return self._next and self._next[0]


def verify_chain(connection: Any, privileged: set[str]) -> tuple[Chain, str | None]:
    """Follow the whole chain; the chain as far as it holds, and what breaks it."""
    chain = Chain(connection, privileged)
    marks = ", ".join("?" * len(privileged))
    query = (
        "SELECT seq, at, by, type, v, data FROM events"  # noqa: S608 only marks are put in
        f" WHERE type IN ({marks}) OR seq IN (SELECT seq FROM chain) ORDER BY seq"
    )
    for raw in connection.execute(query, tuple(privileged)):
        fault = chain.follow(raw)
        if fault:
            return chain, fault
    stray = chain.get_surplus_link()
    return chain, None if stray is None else f"The chain names event {stray}, which is not in the log."
