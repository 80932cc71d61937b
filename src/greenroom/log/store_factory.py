"""Chooses where a hub's log is: a file in its data directory, or a PostgreSQL database that hubs share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from greenroom.log.blobs import Blobs, FileBlobs
from greenroom.log.data_directory import FILES, StoreUnusable
from greenroom.log.model import Noun
from greenroom.log.store_sqlite import SqliteStore
from greenroom.settings import Settings

if TYPE_CHECKING:
    from greenroom.log.store_postgres import PostgresStore

SCHEMES = ("postgresql://", "postgres://")


def open_store(data: Path, settings: Settings, nouns: tuple[Noun, ...]) -> "SqliteStore | PostgresStore":
    """The store that the settings name."""
    if settings.database is None:
        return SqliteStore(data, nouns)
    if not settings.database.startswith(SCHEMES):
        raise StoreUnusable("The setting database names no PostgreSQL database: write postgresql://user@host/name.")
    try:
        from greenroom.log.store_postgres import PostgresStore
    except ImportError as error:
        raise StoreUnusable(
            "The setting database needs what comes with the extra postgres: install greenroom[postgres]."
        ) from error
    return PostgresStore(data, settings.database, nouns)


def open_blobs(data: Path, settings: Settings, is_named: Callable[[str], bool]) -> Blobs:
    """Large payloads, beside the log."""
    if settings.database is None:
        return FileBlobs(data / FILES, is_named)
    from greenroom.log.blobs_postgres import PostgresBlobs

    return PostgresBlobs(settings.database, is_named)
