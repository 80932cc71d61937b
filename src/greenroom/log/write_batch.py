"""What the writer's transaction collects, on either database: events, the chain, command keys, reactors' cursors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, cast

from greenroom.log.chain import GENESIS, Raw, hash_link
from greenroom.log.codec import Codec
from greenroom.log.model import Change, Event, Recorded

_MANY = 500


class WriteBatch(ABC):
    """Written in one go, when the transaction ends or when something of it is asked for.

    Statements are written here once, with `?` for each value; a database brings how they are carried out.
    """

    seq: int
    changed: dict[tuple[str, str], Change]
    lost: tuple[type[Exception], ...] = ()

    def __init__(self, codec: Codec) -> None:
        self.cursors: dict[str, int] = {}
        self._codec = codec
        self._clear()

    def _clear(self) -> None:
        self._events: list[Raw] = []
        self._links: list[tuple[int, bytes]] = []
        self._commands: dict[str, tuple[str, int, int, int]] = {}

    @property
    def needs_commit(self) -> bool:
        """Whether something was put off to the commit that the next command must find done."""
        return False

    @property
    def is_long(self) -> bool:
        """Whether writing the batch takes so long that a thread should do it."""
        return len(self._events) > _MANY

    @abstractmethod
    def flush(self) -> None:
        """Write the rows that are not written yet."""

    @abstractmethod
    def get_first(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """The first line that a question finds."""

    @abstractmethod
    def write_all(self, sql: str, values: Iterable[tuple[Any, ...]]) -> None:
        """Carry out a statement once for each of these values."""

    @abstractmethod
    def events_after(self, after: int, limit: int) -> Iterator[Recorded]:
        """Events of the log, oldest first."""

    def append(self, event: Event, at: int, by: str) -> Recorded:
        self.seq += 1
        kind = type(event)
        data = self._codec.encode(event)
        raw = (self.seq, at, by, kind.__name__, kind.version, data)
        self._events.append(raw)
        if kind.privileged:
            self._links.append((self.seq, hash_link(self._last_link(), raw)))
        return Recorded(self.seq, at, by, event, len(data))

    def _last_link(self) -> bytes:
        if self._links:
            return self._links[-1][1]
        found = self.get_first("SELECT hash FROM chain ORDER BY seq DESC LIMIT 1")
        return found[0] if found else GENESIS

    def get_command(self, key: str) -> tuple[str, int, int] | None:
        fresh = self._commands.get(key)
        if fresh is not None:
            return fresh[:3]
        found = self.get_first("SELECT name, first, last FROM commands WHERE key = ?", key)
        return cast("tuple[str, int, int] | None", found)

    def remember_command(self, key: str, name: str, first: int, last: int, at: int) -> None:
        self._commands[key] = (name, first, last, at)

    def records(self, first: int, last: int) -> list[Recorded]:
        self.write_events()
        return list(self.events_after(first - 1, last - first + 1))

    def changes(self) -> tuple[Change, ...]:
        return tuple(sorted(self.changed.values(), key=_seq_of))

    def finish(self) -> None:
        """Write all that has been gathered; the commit is still to come."""
        self.flush()
        self.write_events()
        if self._links:
            self.write_all("INSERT INTO chain (seq, hash) VALUES (?, ?)", self._links)
            self._links = []
        if self._commands:
            commands = [(key, *values) for key, values in self._commands.items()]
            self.write_all("INSERT INTO commands VALUES (?, ?, ?, ?, ?)", commands)
            self._commands = {}
        if self.cursors:
            newest = "CASE WHEN excluded.seq > cursors.seq THEN excluded.seq ELSE cursors.seq END"
            sql = f"INSERT INTO cursors VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = {newest}"  # noqa: S608
            self.write_all(sql, self.cursors.items())

    def write_events(self) -> None:
        """Write the events that are not written yet."""
        if self._events:
            self.write_all("INSERT INTO events (seq, at, by, type, v, data) VALUES (?, ?, ?, ?, ?, ?)", self._events)
            self._events = []


def _seq_of(change: Change) -> int:
    return change.seq
