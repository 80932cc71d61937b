"""The committed present in PostgreSQL, as doors and reactors read it; a connection that was lost is made again."""

import contextlib
import time
from collections.abc import Iterable
from typing import Any

import psycopg

from greenroom.log.errors import Unavailable
from greenroom.log.postgres_hubs import LOST
from greenroom.log.postgres_rows import PostgresRows
from greenroom.log.postgres_tx import connect

_PAUSE_S = 1.0


def unreachable(error: Exception) -> Unavailable:
    """What is said while the database does not answer."""
    return Unavailable("storage_unreachable", f"The database does not answer ({error}); try again.", retry_after_s=5)


class PostgresPresent(PostgresRows):
    """Reads outside of transactions, so that whatever the database did not answer may be asked again."""

    def __init__(self, url: str) -> None:
        super().__init__(connect(url))
        self._url = url
        self._wait_until = 0.0

    def run(self, sql: str, values: Iterable[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        bound = tuple(values)
        try:
            return super().run(sql, bound)
        except LOST as error:
            self._connect_again(error)
        return super().run(sql, bound)

    def _connect_again(self, error: Exception) -> None:
        """Not more than once in a while: everybody waits for it."""
        now = time.monotonic()
        if now >= self._wait_until:
            self._wait_until = now + _PAUSE_S
            with contextlib.suppress(psycopg.Error):
                self.connection.close()
            try:
                self.connection = connect(self._url)
                self._wait_until = 0.0
                return
            except LOST as still:
                error = still
        raise unreachable(error) from error
