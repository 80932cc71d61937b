"""One SQLite file: how it is opened, and what is said when it cannot be used."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from greenroom.log.codec import UnknownEvent
from greenroom.log.directory import StoreUnusable


def connect(path: Path, *, write: bool = False) -> apsw.Connection:
    """A connection with the settings that durability and safety ask for."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if write else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(str(path), flags=flags)
    connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536")
    if write:
        connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;"
            " PRAGMA wal_autocheckpoint = 2000"
        )
    else:
        connection.set_busy_timeout(2000)
    return connection


@contextlib.contextmanager
def usable(path: Path) -> Iterator[None]:
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
