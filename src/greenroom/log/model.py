"""The parts of the log: commands, events, tables of rows, and the nouns that define them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from greenroom.settings import Settings

Value = str | int | None
KEY_SEPARATOR = "\x1f"


class CommandActor(msgspec.Struct, frozen=True, kw_only=True):
    """Who gave a command. Nouns add what their rules need."""

    id: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A request to change something. `key` is the caller's own id for it: the same key returns the first answer."""

    by: CommandActor
    key: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened. Raise `version` and add an upcaster when the fields change."""

    version: ClassVar[int] = 1
    privileged: ClassVar[bool] = False
    """A privileged event is a link of the hash chain that `greenroom check` verifies."""
    refusal: ClassVar[bool] = False
    """A refusal that had to be recorded. Nothing was done, so it leaves the command's key free for another try."""

    def count_file_bytes(self) -> int:
        """The bytes of the payload files that came with it, which are not in the log itself."""
        return 0


class Recorded(msgspec.Struct, frozen=True):
    """An event in its place in the log."""

    seq: int
    at: int
    by: str
    event: Any
    size: int = 0
    """Its bytes in the log."""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the present, made from events and never written otherwise."""


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, eq=False)
class Table(Generic[R]):
    """How rows of one kind are kept: their key, the fields they are found by, and the text they are searched by.

    An index may name `_seq`, the seq of the event that last changed the row.
    """

    name: str
    row: type[R]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    text: str | None = None
    file: str | None = None
    """The field that names a payload file; `check` looks whether it is there, and `backup` takes it along."""
    columns: tuple[str, ...] = field(init=False)
    columns_of: Callable[[R], tuple[Value, ...]] = field(init=False)
    found_by: Callable[[R], tuple[Value, ...]] = field(init=False)
    """The values of all fields that a row is found by, its text among them."""
    key_of: Callable[[R], str] = field(init=False)
    decode: Callable[[bytes], R] = field(init=False)

    def __post_init__(self) -> None:
        columns = dict.fromkeys(c for index in self.indexes for c in index if c != "_seq")
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "columns_of", _make_getter(tuple(columns)))
        object.__setattr__(self, "found_by", _make_getter((*columns, *([self.text] if self.text else []))))
        get = attrgetter(*self.key)
        one = len(self.key) == 1
        object.__setattr__(self, "key_of", get if one else lambda row: KEY_SEPARATOR.join(get(row)))
        object.__setattr__(self, "decode", msgspec.json.Decoder(self.row).decode)

    def is_number(self, column: str) -> bool:
        """Whether a field that rows are found by holds numbers."""
        declared = (vars(kind).get("__annotations__", {}) for kind in self.row.__mro__)
        return next(fields[column] for fields in declared if column in fields) in (int, bool, int | None)


def _make_getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Value, ...]]:
    """What reads these fields of a row as a tuple, however few they are."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda row: tuple([getattr(row, name) for name in names])


class Rows(Protocol):
    """The present, to be read."""

    def get(self, table: Table[R], *key: str) -> R | None:
        """The row with this key."""
        ...

    def find(
        self,
        table: Table[R],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
        order: str | None = None,
        desc: bool = False,
        limit: int | None = None,
        most_bytes: int | None = None,
    ) -> list[R]:
        """Rows whose indexed fields equal `where`, optionally beyond `after` or below `before` in a field.

        With `most_bytes` the list ends with the row that makes it larger than that.
        """
        ...

    def count(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
    ) -> int:
        """How many rows `find` would return."""
        ...

    def search(
        self, table: Table[R], words: str, where: Mapping[str, Value] | None = None, *, limit: int = 50
    ) -> list[R]:
        """Rows whose text holds all the words, best first."""
        ...


class Tx(Rows, Protocol):
    """The present while it changes, inside the transaction of one event."""

    def put(self, table: Table[R], row: R) -> None:
        """Insert or replace a row."""
        ...

    def drop(self, table: Table[Any], *key: str) -> None:
        """Remove a row; clients learn that it is gone."""
        ...

    def drop_last(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        """As `drop_all`, at the end of the transaction if the rows are many: nothing may look for them after this."""
        ...

    def drop_all(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        """Remove rows together with the row that they belong to; clients learn only of that one."""
        ...


class Change(msgspec.Struct, frozen=True):
    """One row that a commit changed; `row` is None when it is gone. `data` is its JSON, encoded once."""

    table: Table[Any]
    key: str
    seq: int
    row: Any
    data: bytes


@dataclass(frozen=True, slots=True)
class Commit:
    """What one transaction brought: announced to every subscriber, in order."""

    seq: int
    records: tuple[Recorded, ...]
    changes: tuple[Change, ...]
    """By seq."""
    tables: frozenset[Table[Any]]
    """The tables whose rows changed, so that subscribers of other tables need not read the changes."""


class Done(msgspec.Struct, frozen=True):
    """The answer to a command: the events that it made, in place. `repeated` when the key was known already."""

    records: tuple[Recorded, ...]
    repeated: bool = False

    @property
    def seq(self) -> int:
        """The seq of the command's last event; 0 when nothing had to change."""
        return self.records[-1].seq if self.records else 0

    def first(self, kind: type[Any]) -> Any:
        """The first event of this kind; the command promises that there is one."""
        for record in self.records:
            if isinstance(record.event, kind):
                return record.event
        raise LookupError(kind.__name__)


class Context(msgspec.Struct, frozen=True):
    """What a rule may know besides the rows and the command."""

    now: int
    settings: Settings


Decide = Callable[[Rows, Any, Context], list[Event]]
Project = Callable[[Tx, Any, Recorded], None]
Follow = Callable[[Rows, Any, Context], list[Event]]
Admit = Callable[[Rows, Command, Context], None]
ProjectAll = Callable[[Tx, Recorded], None]
Upcast = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Noun:
    """Everything that one noun contributes to the log. The dictionaries are at the end of its files."""

    name: str
    tables: tuple[Table[Any], ...]
    events: tuple[type[Event], ...]
    decide: Mapping[type[Command], Decide]
    project: Mapping[type[Event], Project]
    follow: Mapping[type[Event], Follow] = field(default_factory=dict)
    """What comes with an event of a lower noun, in the same transaction: pure, on the rows as that event has left them,
    and never a refusal. So what must not part (an answer, and the order that carries it out) does not."""
    admit: Admit | None = None
    """A look at every command before its rule; it raises Refused."""
    project_all: ProjectAll | None = None
    """A projection of every event, after the event's own."""
    upcast: Mapping[tuple[str, int], Upcast] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """Names of the modules whose change means that the rows must be rebuilt."""
