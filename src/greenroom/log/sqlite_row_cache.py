"""Reads committed rows in SQLite, for doors and reactors, with a cache of recent reads."""

from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from greenroom.log.model import R, Table, Value
from greenroom.log.sqlite_rows import SqliteRows

_ANSWERS = 4_000
_ANSWER_BYTES = 4096
_UNKNOWN = object()


class SqliteRowCache(SqliteRows):
    """Remembers small answers until a commit changes their table; the store says when that is."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._answers: dict[Table[Any], dict[Any, Any]] = {}

    def forget(self, tables: Iterable[Table[Any]]) -> None:
        """These tables have changed."""
        for table in tables:
            self._answers.pop(table, None)

    def get(self, table: Table[R], *key: str) -> R | None:
        answers = self._ensure_answers(table)
        row = answers.get(key, _UNKNOWN)
        if row is _UNKNOWN:
            data = self.get_data(table, *key)
            row = None if data is None else table.decode(data)
            if data is None or len(data) <= _ANSWER_BYTES:
                answers[key] = row
        return row  # type: ignore[no-any-return]

    def find(self, table: Table[R], where: Mapping[str, Value] | None = None, **how: Any) -> list[R]:
        answers = self._ensure_answers(table)
        question = (tuple((where or {}).items()), tuple(how.items()))
        rows = answers.get(question)
        if rows is None:
            data = self.find_data(table, where, **how)
            rows = [table.decode(one) for one in data]
            if sum(map(len, data)) <= _ANSWER_BYTES:
                answers[question] = rows
        return list(rows)

    def _ensure_answers(self, table: Table[Any]) -> dict[Any, Any]:
        answers = self._answers.get(table)
        if answers is None or len(answers) >= _ANSWERS:
            answers = self._answers[table] = {}
        return answers
