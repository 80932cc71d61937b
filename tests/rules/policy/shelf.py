"""Rows on a shelf: enough of the present for the judge, without a database."""

from collections.abc import Mapping
from typing import Any, TypeVar

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.model import Row, Table, Value
from greenroom.rules.agents.profiles import PROFILES, Profile
from greenroom.rules.policy.model import RULES, STATE, THE, KeptRule, Options, PolicyState, Rule

R = TypeVar("R", bound=Row)
NOW = 1_800_000_000_000


class Shelf:
    """Rows by table, found by looking at each."""

    def __init__(self, *rules: Rule, options: Options | None = None, **profiles: ProfileDefinition) -> None:
        self._rows: dict[str, list[Any]] = {}
        for number, rule in enumerate(rules):
            self.put(
                RULES, KeptRule(name=f"r{number}", place=number, rule=rule, source="api", changed_at=0, by="operator")
            )
        digest = repr((rules, options))
        self.put(STATE, PolicyState(id=THE, digest=digest, options=options or Options(), version=1))
        for name, definition in profiles.items():
            self.put(PROFILES, Profile(name=name, definition=definition, source="api", changed_at=0))

    def put(self, table: Table[Any], row: Row) -> None:
        rows = self._rows.setdefault(table.name, [])
        rows[:] = [one for one in rows if table.key_of(one) != table.key_of(row)]
        rows.append(row)

    def get(self, table: Table[R], *key: str) -> R | None:
        return next((one for one in self._rows.get(table.name, []) if table.key_of(one) == "\x1f".join(key)), None)

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
    ) -> list[R]:
        found = [
            row
            for row in self._rows.get(table.name, [])
            if all(getattr(row, name) == value for name, value in (where or {}).items())
            and (after is None or getattr(row, after[0]) > after[1])
            and (before is None or getattr(row, before[0]) < before[1])
        ]
        if order is not None:
            found.sort(key=lambda row: getattr(row, order), reverse=desc)
        return found[:limit]

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
        self, table: Table[R], words: str, where: Mapping[str, Value] | None = None, *, limit: int = 50
    ) -> list[R]:
        raise NotImplementedError
