"""A read-only snapshot of a log, in a file or in PostgreSQL, for programs outside the hub."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from greenroom.log.data_directory import StoreUnusable, need_database
from greenroom.log.sqlite_file import connect, convert_database_errors


@contextlib.contextmanager
def read_log(data: Path, database: str | None) -> Iterator[Any]:
    """A connection that takes plain SQL with `?` for values, on either database. Callers only read."""
    if database is None:
        path = need_database(data)
        with convert_database_errors(path), contextlib.closing(connect(path)) as connection:
            yield connection
        return
    import psycopg

    from greenroom.log.check_postgres import QmarkConnection
    from greenroom.log.postgres_connection import connect as connect_postgres

    try:
        with connect_postgres(database) as postgres, postgres.transaction():
            postgres.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield QmarkConnection(postgres)
    except psycopg.Error as error:
        raise StoreUnusable(
            f"The PostgreSQL database cannot be read ({error}): see that the server runs and that `database` in the"
            " settings names it."
        ) from error
