"""The present in memory, for tests of rules: commands in, events and rows out; no store, no clock, no process."""

from collections.abc import Mapping
from typing import Any

from greenroom.app import NOUNS
from greenroom.log.model import Command, Context, Event, Recorded, Table, Value
from greenroom.settings import Settings


class Present:
    """Rows in dictionaries. Each command is decided and its events are projected at once."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self._rows: dict[str, dict[str, Any]] = {}
        self._seqs: dict[tuple[str, str], int] = {}
        self._seq = 0
        self._settings = Settings()
        self._decide = {kind: rule for noun in NOUNS for kind, rule in noun.decide.items()}
        self._project = {kind: change for noun in NOUNS for kind, change in noun.project.items()}
        self._follow = [(kind, rule) for noun in NOUNS for kind, rule in noun.follow.items()]

    def do(self, command: Command) -> list[Event]:
        """Carry a command out; raises what the rules say."""
        context = Context(now=self.now, settings=self._settings)
        events = self._decide[type(command)](self, command, context)
        by = getattr(command.by, "id", "")
        done: list[Event] = []
        waiting = list(events)
        while waiting:
            event = waiting.pop(0)
            self._seq += 1
            record = Recorded(seq=self._seq, at=self.now, by=by, event=event)
            self._project[type(event)](self, event, record)
            done.append(event)
            for kind, rule in self._follow:
                if isinstance(event, kind):
                    waiting += rule(self, event, context)
        return done

    def get(self, table: Table[Any], *key: str) -> Any:
        return self._rows.get(table.name, {}).get("\x1f".join(key))

    def find(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
        order: str | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> list[Any]:
        found = [
            (key, row)
            for key, row in self._rows.get(table.name, {}).items()
            if all(getattr(row, name) == value for name, value in (where or {}).items())
            and (after is None or self._value(table, key, row, after[0]) > after[1])
            and (before is None or self._value(table, key, row, before[0]) < before[1])
        ]
        if order is not None:
            found.sort(key=lambda one: self._value(table, *one, order), reverse=desc)
        return [row for _, row in found[:limit]]

    def count(
        self,
        table: Table[Any],
        where: Mapping[str, Value] | None = None,
        *,
        after: tuple[str, Value] | None = None,
        before: tuple[str, Value] | None = None,
    ) -> int:
        return len(self.find(table, where, after=after, before=before))

    def search(
        self, table: Table[Any], words: str, where: Mapping[str, Value] | None = None, *, limit: int = 50
    ) -> Any:
        raise NotImplementedError("no rule searches")

    def put(self, table: Table[Any], row: Any) -> None:
        key = "\x1f".join(getattr(row, name) for name in table.key)
        self._rows.setdefault(table.name, {})[key] = row
        self._seqs[table.name, key] = self._seq

    def drop(self, table: Table[Any], *key: str) -> None:
        self._rows.get(table.name, {}).pop("\x1f".join(key), None)

    def drop_all(self, table: Table[Any], where: Mapping[str, Value]) -> None:
        for row in self.find(table, where):
            self.drop(table, *(getattr(row, name) for name in table.key))

    def _value(self, table: Table[Any], key: str, row: Any, name: str) -> Any:
        if name == "_key":
            return key
        return self._seqs[table.name, key] if name == "_seq" else getattr(row, name)
