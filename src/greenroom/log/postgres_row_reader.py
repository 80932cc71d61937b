"""Reads committed rows in PostgreSQL, for doors and reactors, and reconnects after a lost connection."""

import contextlib
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg

from greenroom.log.postgres_connection import LOST, Connection, connect, make_unreachable_error
from greenroom.log.postgres_rows import PostgresRows

_PAUSE_S = 1.0
_MOMENT_S = 0.5
"""How long one read waits for a new connection; a server that was restarted gives one sooner."""


class PostgresRowReader(PostgresRows):
    """Reads outside of transactions, so that whatever the database did not answer may be asked again.

    Reads happen on the event loop, which must not wait for a network that is gone: a thread connects again.
    """

    def __init__(self, url: str) -> None:
        super().__init__(connect(url))
        self._url = url
        self._thread = ThreadPoolExecutor(1, "greenroom-connect")
        self._connecting: Future[Connection] | None = None
        self._wait_until = 0.0

    def run(self, sql: str, values: Iterable[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        bound = tuple(values)
        try:
            return super().run(sql, bound)
        except LOST as error:
            self._connect_again(error)
        try:
            return super().run(sql, bound)
        except LOST as error:
            raise make_unreachable_error(error) from error

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()
        self._thread.shutdown()
        if self._connecting is not None:
            with contextlib.suppress(*LOST):
                self._connecting.result().close()

    def _connect_again(self, error: Exception) -> None:
        """Have a thread connect, not more than once in a while, and wait a moment for it the first time."""
        patience_s = 0.0
        if self._connecting is None:
            if time.monotonic() < self._wait_until:
                raise make_unreachable_error(error) from error
            with contextlib.suppress(psycopg.Error):
                self.connection.close()
            self._connecting = self._thread.submit(connect, self._url)
            patience_s = _MOMENT_S
        try:
            self.connection = self._connecting.result(patience_s)
        except TimeoutError as still:
            raise make_unreachable_error(error) from still
        except LOST as still:
            self._connecting, self._wait_until = None, time.monotonic() + _PAUSE_S
            raise make_unreachable_error(still) from still
        self._connecting = None
