"""Writes a whole data directory into one file while the hub runs; `restore` reads it."""

import contextlib
import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import apsw
import msgspec

from greenroom import __version__
from greenroom.clock import SystemClock, format_iso
from greenroom.errors import Refused, Unavailable
from greenroom.log.blobs import build_blob_path
from greenroom.log.check import get_file_fault
from greenroom.log.check_sqlite import find_named_files
from greenroom.log.data_directory import FILE, FILES, need_database, sync_folder
from greenroom.log.model import Noun
from greenroom.log.sqlite_file import connect
from greenroom.log.sqlite_tx import read_head
from greenroom.log.store_sqlite import APPLICATION_ID, SCHEMA

FORMAT = 1
MANIFEST = "manifest.json"
_ATTEMPTS = 5


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup says of itself; it is the first member of the file."""

    format: int
    greenroom: str
    schema: int
    made_at: str
    seq: int
    """The newest event in it."""
    size: int
    digest: str
    """Size and SHA-256 of the database."""
    files: dict[str, int]
    """The payload files, named by their SHA-256, with their sizes."""
    left_out: list[str] = []
    """Payload files that were missing or damaged already."""


class _PayloadGone(Exception):
    """A payload file was dropped with its thread after the database had been copied."""


def backup(data: Path, target: Path, nouns: Sequence[Noun]) -> BackupManifest:
    """Write a backup of everything acknowledged so far to a new file that only its owner can read."""
    need_database(data)
    if target.exists():
        raise Refused("target_exists", "conflict", file=target)
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(_PayloadGone), convert_write_errors(target.parent):
            return _write(data, target, nouns)
    raise Unavailable("busy.backup")


def _write(data: Path, target: Path, nouns: Sequence[Noun]) -> BackupManifest:
    with tempfile.TemporaryDirectory(prefix=".greenroom-backup-", dir=target.parent) as folder:
        copy = Path(folder) / FILE
        _copy_database(data / FILE, copy)
        manifest = _describe(data, copy, nouns)
        part = Path(folder) / "backup"
        with create_private_file(part) as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
                _add(tar, MANIFEST, msgspec.json.encode(manifest))
                _add(tar, FILE, copy)
                for name in manifest.files:
                    try:
                        _add(tar, build_member_name(name), build_blob_path(data / FILES, name))
                    except FileNotFoundError:
                        raise _PayloadGone from None
            sync_file(out)
        part.rename(target)
    sync_folder(target.parent)
    return manifest


def _copy_database(source: Path, copy: Path) -> None:
    """Copy one moment of a database in use; pages of what was deleted stay behind."""
    try:
        with contextlib.closing(connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except (apsw.FullError, apsw.IOError) as error:
        raise Unavailable("storage_full.backup", 5, error=error) from error
    except apsw.Error as error:
        raise _make_damaged_error(str(error)) from error


def _describe(data: Path, copy: Path, nouns: Sequence[Noun]) -> BackupManifest:
    tables = [table for noun in nouns for table in noun.tables]
    with contextlib.closing(need_sound_database(copy)) as connection:
        seq, schema = read_head(connection), connection.pragma("user_version")
        names = find_named_files(connection, tables)
    if schema > SCHEMA:
        raise Refused("newer_schema", "conflict")
    faulty = {name for name in names if get_file_fault(data / FILES, name)}
    if faulty:
        with contextlib.closing(connect(data / FILE)) as connection:
            if not faulty <= find_named_files(connection, tables):
                raise _PayloadGone
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return BackupManifest(
        format=FORMAT,
        greenroom=__version__,
        schema=schema,
        made_at=format_iso(SystemClock().now()),
        seq=seq,
        size=copy.stat().st_size,
        digest=digest,
        files={name: build_blob_path(data / FILES, name).stat().st_size for name in sorted(names - faulty)},
        left_out=sorted(faulty),
    )


def need_sound_database(copy: Path) -> apsw.Connection:
    """A connection to a copied database that is one of ours and whole."""
    try:
        connection = connect(copy)
        told = connection.execute("PRAGMA quick_check(1)").get
        if connection.pragma("application_id") == APPLICATION_ID and told == "ok":
            return connection
        connection.close()
    except apsw.Error as error:
        raise _make_damaged_error(str(error)) from error
    raise _make_damaged_error(told)


def _make_damaged_error(why: str) -> Refused:
    return Refused("database_damaged", "conflict", why=why)


def _add(tar: tarfile.TarFile, name: str, content: bytes | Path) -> None:
    info = tarfile.TarInfo(name)
    info.mode = 0o600
    if isinstance(content, bytes):
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    else:
        with content.open("rb") as source:
            info.size = os.fstat(source.fileno()).st_size
            tar.addfile(info, source)


def build_member_name(name: str) -> str:
    """The name of a payload file within a backup."""
    return build_blob_path(Path(FILES), name).as_posix()


@contextlib.contextmanager
def convert_write_errors(folder: Path) -> Iterator[None]:
    """Raise Unavailable for every write error of the disk in here."""
    try:
        yield
    except OSError as error:
        raise Unavailable("storage_full.folder", 5, folder=folder, error=error.strerror) from error


def create_private_file(path: Path) -> IO[bytes]:
    """A new file that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")


def sync_file(file: IO[bytes]) -> None:
    """Sync a file to the disk."""
    file.flush()
    os.fsync(file.fileno())
