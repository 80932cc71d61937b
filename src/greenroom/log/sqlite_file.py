"""One SQLite file: how to open it, and the errors when it cannot be used."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from greenroom.log.codec import UnknownEvent
from greenroom.log.data_directory import StoreUnusable

_ALWAYS: dict[str, str | int] = {"trusted_schema": "OFF", "cell_size_check": "ON", "cache_size": -65536}
_WRITING: dict[str, str | int] = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "journal_size_limit": 64 << 20,
    "wal_autocheckpoint": 2000,
}


def connect(path: Path, *, write: bool = False) -> apsw.Connection:
    """A connection with the settings that durability and safety ask for."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if write else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(str(path), flags=flags)
    # One by one: of several in one text those after the first that answers would not be carried out.
    for name, value in {**_ALWAYS, **(_WRITING if write else {})}.items():
        connection.pragma(name, value)
    if not write:
        connection.set_busy_timeout(2000)
    return connection


@contextlib.contextmanager
def convert_database_errors(path: Path) -> Iterator[None]:
    """Whatever the database cannot do in here makes it unusable, and the message says what to do."""
    try:
        yield
    except UnknownEvent as error:
        raise StoreUnusable(f"{path}: {error}.") from error
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, OSError) as error:
        raise StoreUnusable(
            f"{path} cannot be used ({error}): free some space or mend its permissions, and start again."
        ) from error
    except (apsw.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreUnusable(
            f"{path} is damaged ({error}): see what is wrong with `greenroom check`, and restore a backup"
            " with `greenroom restore`."
        ) from error
