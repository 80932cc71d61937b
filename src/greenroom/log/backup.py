"""A whole data directory as one file, made while the hub runs, and the way back."""

import contextlib
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import apsw
import msgspec

from greenroom import __version__
from greenroom.log.blobs import place_of
from greenroom.log.check import fault_of_file, named_files
from greenroom.log.clock import SystemClock, iso
from greenroom.log.directory import FILE, FILES, need_database, own, sync_folder
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.model import Noun
from greenroom.log.sqlite_file import connect
from greenroom.log.store_sqlite import APPLICATION_ID, SCHEMA, head_of

FORMAT = 1
MANIFEST = "manifest.json"
_ATTEMPTS = 5
_MANIFEST_BYTES = 128 << 20
_BLOCK = 1 << 20
_STAGED = ".restoring"
_REPLACED = "replaced-"
_KEPT = frozenset({"lock", "greenroom.toml", _STAGED})
"""What may lie in a directory that counts as empty, and stays where it is when the rest is moved aside."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
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


class _Gone(Exception):
    """A payload file was dropped with its thread after the database had been copied."""


def backup(data: Path, target: Path, nouns: Sequence[Noun]) -> Manifest:
    """Write a backup of everything acknowledged so far to a new file that only its owner can read."""
    need_database(data)
    if target.exists():
        raise Refused("target_exists", f"{target} exists already: choose another name for the backup.", "conflict")
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(_Gone), _disk(target.parent):
            return _write(data, target, nouns)
    raise Unavailable("busy", "Threads are being deleted while the backup is made: try again in a moment.")


def _write(data: Path, target: Path, nouns: Sequence[Noun]) -> Manifest:
    with tempfile.TemporaryDirectory(prefix=".greenroom-backup-", dir=target.parent) as folder:
        copy = Path(folder) / FILE
        _copy_database(data / FILE, copy)
        manifest = _describe(data, copy, nouns)
        part = Path(folder) / "backup"
        with _private(part) as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
                _add(tar, MANIFEST, msgspec.json.encode(manifest))
                _add(tar, FILE, copy)
                for name in manifest.files:
                    try:
                        _add(tar, _member(name), place_of(data / FILES, name))
                    except FileNotFoundError:
                        raise _Gone from None
            _sync(out)
        part.rename(target)
    sync_folder(target.parent)
    return manifest


def _copy_database(source: Path, copy: Path) -> None:
    """Copy one moment of a database in use; pages of what was deleted stay behind."""
    try:
        with contextlib.closing(connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except (apsw.FullError, apsw.IOError) as error:
        raise Unavailable("storage_full", f"The copy of the database cannot be written ({error}).", 5) from error
    except apsw.Error as error:
        raise _unsound(str(error)) from error


def _describe(data: Path, copy: Path, nouns: Sequence[Noun]) -> Manifest:
    tables = [table for noun in nouns for table in noun.tables]
    with contextlib.closing(_need_sound(copy)) as connection:
        seq, schema = head_of(connection), connection.pragma("user_version")
        names = named_files(connection, tables)
    if schema > SCHEMA:
        raise Refused("newer_schema", "The data is of a newer greenroom: back it up with that version.", "conflict")
    faulty = {name for name in names if fault_of_file(data / FILES, name)}
    if faulty:
        with contextlib.closing(connect(data / FILE)) as connection:
            if not faulty <= named_files(connection, tables):
                raise _Gone
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Manifest(
        format=FORMAT,
        greenroom=__version__,
        schema=schema,
        made_at=iso(SystemClock().now()),
        seq=seq,
        size=copy.stat().st_size,
        digest=digest,
        files={name: place_of(data / FILES, name).stat().st_size for name in sorted(names - faulty)},
        left_out=sorted(faulty),
    )


def _need_sound(copy: Path) -> apsw.Connection:
    """A connection to a copied database that is one of ours and whole."""
    try:
        connection = connect(copy)
        told = connection.execute("PRAGMA quick_check(1)").get
        if connection.pragma("application_id") == APPLICATION_ID and told == "ok":
            return connection
        connection.close()
    except apsw.Error as error:
        raise _unsound(str(error)) from error
    raise _unsound(told)


def _unsound(why: str) -> Refused:
    return Refused("database_damaged", f"The database is damaged ({why}): see `greenroom check`.", "conflict")


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


def restore(file: Path, data: Path, *, force: bool = False) -> Manifest:
    """Put a backup into an empty data directory. With `force` what is there is first moved into a folder beside it."""
    _need_place(data, force)
    lock = own(data)
    staged = data / _STAGED
    try:
        _need_place(data, force)  # again, now that nobody else can come
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(mode=0o700)
        with _opened(file) as source, _disk(data):
            manifest = _unpack(source, staged)
            _need_manifest_kept(staged, manifest)
            _move_aside(data)
            for name in (FILES, FILE):  # the database last: without it there is nothing
                (staged / name).rename(data / name)
            sync_folder(data)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        os.close(lock)
    return manifest


def _need_place(data: Path, force: bool) -> None:
    there = {path.name for path in data.iterdir() if not _stays(path.name)} if data.is_dir() else set()
    if not there:
        return
    if FILE not in there:
        raise Refused("not_empty", f"{data} holds other things: choose an empty or a new directory.", "conflict")
    if not force:
        raise Refused(
            "not_empty",
            f"{data} holds a hub's data already: choose another directory, or use --force to move the old data aside.",
            "conflict",
        )


def _unpack(file: IO[bytes], staged: Path) -> Manifest:
    """Take exactly what the manifest names out of the file, each with its digest; names in the file lead nowhere."""
    (staged / FILES).mkdir(mode=0o700)
    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            manifest = _read_manifest(tar)
            if sum(manifest.files.values()) + manifest.size > shutil.disk_usage(staged).free:
                raise Unavailable("storage_full", "The disk has no room for what the backup holds: free some.", 5)
            wanted = {FILE: (staged / FILE, manifest.size, manifest.digest)}
            for name, size in manifest.files.items():
                wanted[_member(name)] = (place_of(staged / FILES, name), size, name)
            for member in iter(tar.next, None):
                if member.name not in wanted or member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise _damaged(f"it holds {member.name[:80]!r}, which does not belong there or comes twice")
                _take(tar, member, *wanted.pop(member.name))
    except (tarfile.TarError, msgspec.MsgspecError, ValueError, EOFError) as error:
        raise _damaged(f"it cannot be read ({error})") from error
    if wanted:
        raise _damaged(f"it is not whole: {len(wanted)} of its parts are missing")
    return manifest


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    member = tar.next()
    source = tar.extractfile(member) if member and member.isreg() and member.name == MANIFEST else None
    if member is None or source is None or member.size > _MANIFEST_BYTES:
        raise _damaged("it does not begin with the manifest of a Greenroom backup")
    manifest = msgspec.json.decode(source.read(), type=Manifest)
    if manifest.format > FORMAT or manifest.schema > SCHEMA:
        raise Refused(
            "newer_backup",
            f"The backup was made by a newer greenroom ({manifest.greenroom}): restore it with that version.",
            "conflict",
        )
    return manifest


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path, size: int, digest: str) -> None:
    source = tar.extractfile(member)
    if source is None or member.size != size:
        raise _damaged(f"{member.name} has not the size that the manifest says")
    place.parent.mkdir(mode=0o700, exist_ok=True)
    found = hashlib.sha256()
    with source, _private(place) as out:
        while block := source.read(_BLOCK):
            found.update(block)
            out.write(block)
        _sync(out)
    if found.hexdigest() != digest:
        raise _damaged(f"{member.name} has not the digest that the manifest says")


def _need_manifest_kept(staged: Path, manifest: Manifest) -> None:
    with contextlib.closing(_need_sound(staged / FILE)) as connection:
        if (head_of(connection), connection.pragma("user_version")) != (manifest.seq, manifest.schema):
            raise _damaged("its database is not the one that the manifest describes")


def _move_aside(data: Path) -> None:
    moved = [path for path in data.iterdir() if not _stays(path.name)]
    if moved:
        aside = data / f"{_REPLACED}{iso(SystemClock().now()).replace(':', '')}"
        aside.mkdir(mode=0o700)
        for path in moved:
            path.rename(aside / path.name)


def _stays(name: str) -> bool:
    return name in _KEPT or name.startswith(_REPLACED)


def _member(name: str) -> str:
    return place_of(Path(FILES), name).as_posix()


def _damaged(what: str) -> Refused:
    return Refused("backup_damaged", f"This cannot be used as a backup: {what}. Nothing was changed.")


def _opened(file: Path) -> IO[bytes]:
    try:
        return file.open("rb")
    except OSError as error:
        raise Refused("backup_not_found", f"{file} cannot be read ({error.strerror}).", "not_found") from error


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable("storage_full", f"{folder} cannot be written ({error.strerror}).", 5) from error


def _private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
