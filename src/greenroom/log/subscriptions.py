"""Subscribers to commits: each names the tables and events that it watches, and gets only those."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from greenroom.log.model import Commit, Event, Table

logger = logging.getLogger(__name__)
Watched = Table[Any] | type[Event]
OnCommit = Callable[[Commit], None]


class _Subscription(NamedTuple):
    number: int
    on_commit: OnCommit
    watched: frozenset[Watched]


class Subscriptions:
    """Indexed by what they watch, so that a commit costs nothing for subscribers of other tables."""

    def __init__(self) -> None:
        self._number = 0
        self._by_watched: dict[Watched | None, dict[int, _Subscription]] = {None: {}}

    def add(self, on_commit: OnCommit, watched: tuple[Watched, ...]) -> Callable[[], None]:
        """Call `on_commit` with what it watches, or with everything; returns a function that ends the subscription."""
        self._number += 1
        one = _Subscription(self._number, on_commit, frozenset(watched))
        places = watched or (None,)
        for place in places:
            self._by_watched.setdefault(place, {})[one.number] = one

        def end() -> None:
            for place in places:
                self._by_watched[place].pop(one.number, None)
                if place is not None and not self._by_watched[place]:
                    del self._by_watched[place]

        return end

    def announce(self, commit: Commit) -> None:
        """Notify every subscriber concerned, in the order in which they subscribed."""
        concerned = dict(self._by_watched[None])
        touched: set[Watched] = {*commit.tables, *(type(record.event) for record in commit.records)}
        for watched in touched & self._by_watched.keys():
            concerned.update(self._by_watched[watched])
        for number in sorted(concerned):
            one = concerned[number]
            try:
                one.on_commit(_narrow(commit, one.watched) if one.watched else commit)
            except Exception:
                logger.exception("a subscriber failed at seq %s", commit.seq)


def _narrow(commit: Commit, watched: frozenset[Watched]) -> Commit:
    return Commit(
        commit.seq,
        tuple([record for record in commit.records if type(record.event) in watched]),
        tuple([change for change in commit.changes if change.table in watched]),
        commit.tables & watched,
    )
