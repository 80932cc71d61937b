"""What the log needs of a database. SQLite and PostgreSQL implement it."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from greenroom.log.model import Change, Commit, Event, Recorded, Rows, Table, Tx, Value

T = TypeVar("T")
MOST_EVENT_BYTES = 1 << 20
"""Of the events that are read at once, beside the last of them."""


class WriteTx(Tx, Protocol):
    """A transaction of the one writer. Rows put after `append` carry the seq of that event."""

    lost: tuple[type[Exception], ...]
    """What reading raises when the database is gone: nothing of the transaction holds then."""

    @property
    def needs_commit(self) -> bool:
        """Whether something was put off to the commit that the next command must find done."""
        ...

    def append(self, event: Event, at: int, by: str) -> Recorded:
        """Give the event the next seq and keep it."""
        ...

    def get_command(self, key: str) -> tuple[str, int, int] | None:
        """What is stored under a command key: the command's name, and its first and last seq."""
        ...

    def remember_command(self, key: str, name: str, first: int, last: int, at: int) -> None:
        """Remember a command key."""
        ...

    def records(self, first: int, last: int) -> list[Recorded]:
        """Events of the log, both ends included."""
        ...


class Store(Protocol):
    """One durable log with its rows. Writes of several tasks take turns."""

    is_shared: bool
    """Whether other hubs may write to it too."""

    @property
    def rows(self) -> Rows:
        """The committed present. Reads are short; long ones go through `read`."""
        ...

    async def write(self, work: Callable[[WriteTx], T]) -> tuple[T, tuple[Change, ...]]:
        """Run `work` in a transaction and return once it is on disk; whatever it raises rolls it back.

        Beside its result come the rows that it changed, the last state of each, by seq.
        """
        ...

    async def read(self, work: Callable[["Snapshot"], T]) -> T:
        """Run a long read on one consistent snapshot without holding up anybody."""
        ...

    def snapshot(self) -> "Snapshot":
        """One consistent view for a few short reads, to be used as a context manager."""
        ...

    def events(self, after: int, limit: int) -> list[Recorded]:
        """Events after a seq, oldest first: at most `limit`, fewer if they are large, none if there are none."""
        ...

    def head(self) -> int:
        """The seq of the newest event."""
        ...

    def wall_time(self) -> int:
        """The time that all hubs on this store go by, as its clock shows it now, in milliseconds since 1970."""
        ...

    def cursor(self, name: str) -> int:
        """How far a reactor has come."""
        ...

    def note_cursor(self, name: str, seq: int) -> None:
        """Remember how far a reactor has come, as part of the next write."""
        ...

    async def move_cursor(self, name: str, seq: int) -> None:
        """Remember how far a reactor has come; returns once that is on disk."""
        ...

    async def forget_commands(self, before: int) -> int:
        """Forget command keys from before a time; returns how many."""
        ...

    def subscribe_to_others(self, announce: Callable[[Commit], None]) -> None:
        """Have what other hubs commit announced here, each commit once and in its place among our own."""
        ...

    async def listen(self, hub: str) -> None:
        """Be on the database under this name, and look at what other hubs commit; to be run as a task."""
        ...

    def acquire_lead(self, part: str) -> AbstractAsyncContextManager[Callable[[], Coroutine[Any, Any, None]]]:
        """Wait until this hub is the one that sees to a part of the work; yields what waits until it is so no more."""
        ...

    def is_alive(self, hub: str) -> bool:
        """Whether a hub of this name is on a shared database at the moment."""
        ...

    def hubs(self) -> frozenset[int]:
        """The hubs that are on a shared database at the moment, numbered so that a later look sees a change."""
        ...

    async def close(self) -> None:
        """Finish the work in progress and close the files."""
        ...


class Snapshot(Rows, Protocol):
    """A consistent view of rows and log at one seq."""

    seq: int

    def find_data(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
        order: str | None = None,
        desc: bool = False,
        limit: int | None = None,
        most_bytes: int | None = None,
    ) -> list[bytes]:
        """The rows of `find` as they are stored, in JSON: for long lists of rows that are handed on as they are."""
        ...

    def __enter__(self) -> "Snapshot": ...

    def __exit__(self, *_: object) -> None: ...

    def all_events(self, after: int = 0) -> Iterator[Recorded]:
        """The whole log after a seq, oldest first."""
        ...

    def privileged_events(self, after: int) -> Iterator[Recorded]:
        """Events of the chain after a seq, oldest first."""
        ...

    def gone_since(self, table: str, seq: int, limit: int) -> Sequence[tuple[str, int]]:
        """Keys of rows of a table that were dropped after a seq, those first that went first."""
        ...
