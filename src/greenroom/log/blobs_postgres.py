"""Large payloads in PostgreSQL, named by their digest, so that every hub on the database has them."""

import hashlib
import threading
from collections.abc import Callable
from typing import Any

from greenroom.log.postgres_row_reader import PostgresRowReader

_DDL = "CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, data BYTEA NOT NULL, held_until TIMESTAMPTZ NOT NULL)"
_HOLD = "now() + interval '1 hour'"
"""Who kept a payload has so long to have it named by the log."""


class PostgresBlobs:
    """A table of payloads. A name that `keep` returns is committed."""

    def __init__(self, url: str, is_named: Callable[[str], bool] = lambda name: False) -> None:
        self._is_named = is_named
        self._lock = threading.Lock()
        self._rows = PostgresRowReader(url)
        self._run(_DDL)

    def keep(self, data: bytes) -> str:
        """Store the bytes and return their name; the same bytes are stored once."""
        name = hashlib.sha256(data).hexdigest()
        self._run(
            f"INSERT INTO files VALUES (%s, %s, {_HOLD}) ON CONFLICT (name) DO UPDATE SET held_until = {_HOLD}",  # noqa: S608
            (name, data),
        )
        return name

    def release(self, name: str) -> None:
        """Nothing is to be done: it was held for a while only."""

    def read(self, name: str) -> bytes | None:
        """The bytes, or None when there are none under this name."""
        found = self._run("SELECT data FROM files WHERE name = %s", (name,))
        return bytes(found[0][0]) if found else None

    def drop(self, name: str) -> None:
        """Remove a payload that nothing names any more; one that somebody holds stays."""
        if not self._is_named(name):
            self._run("DELETE FROM files WHERE name = %s AND held_until < now()", (name,))

    def names(self) -> list[str]:
        """All names held."""
        return [name for (name,) in self._run("SELECT name FROM files ORDER BY name")]

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            cursor = self._rows.run(sql, values)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._rows.close()
