"""Restores a backup into a data directory, completely or not at all."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from greenroom.clock import SystemClock, format_iso
from greenroom.errors import Refused, Unavailable
from greenroom.log.backup import (
    FORMAT,
    MANIFEST,
    BackupManifest,
    build_member_name,
    convert_write_errors,
    create_private_file,
    need_sound_database,
    sync_file,
)
from greenroom.log.blobs import build_blob_path
from greenroom.log.data_directory import (
    FILE,
    FILES,
    HUB_FILE,
    MARK,
    MCP_TOKEN,
    OPERATOR_TOKEN,
    acquire_directory,
    sync_folder,
)
from greenroom.log.sqlite_tx import read_head
from greenroom.log.store_sqlite import SCHEMA

_MANIFEST_BYTES = 128 << 20
_BLOCK = 1 << 20
_STAGED = ".restoring"
_REPLACED = "replaced-"
_REMAINS = frozenset({"lock", "greenroom.toml", _STAGED})
"""What may lie in a directory that counts as empty."""
_NODE = "node"
_REPLACED_FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm", FILES, MARK, HUB_FILE, OPERATOR_TOKEN, MCP_TOKEN, _NODE)
"""What is moved aside. Other files in the directory stay, such as tokens of agents."""


def restore(
    file: Path, data: Path, *, force: bool = False, prepare: Callable[[Path], None] = lambda staged: None
) -> BackupManifest:
    """Put a backup into an empty data directory. With `force` what is there is first moved into a folder beside it.

    `prepare` is called with a data directory that holds what was in the backup, before any of it is in its place.
    """
    _need_place(data, force)
    lock = acquire_directory(data)
    staged = data / _STAGED
    try:
        _need_place(data, force)  # again, now that no hub can start
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(mode=0o700)
        with _open_backup(file) as source, convert_write_errors(data):
            manifest = _unpack(source, staged)
            _need_manifest_kept(staged, manifest)
            prepare(staged)
            _move_aside(data)
            for name in (FILES, OPERATOR_TOKEN, MARK, f"{FILE}-wal", FILE):  # the last: without it there is nothing
                if (staged / name).exists():
                    (staged / name).rename(data / name)
            sync_folder(data)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        os.close(lock)
    return manifest


def _need_place(data: Path, force: bool) -> None:
    there = {path.name for path in data.iterdir()} - _REMAINS if data.is_dir() else set()
    if all(name.startswith(_REPLACED) for name in there):
        return
    if FILE not in there:
        raise Refused("not_empty", "conflict", folder=data)
    if not force:
        raise Refused("not_empty.hub_data", "conflict", folder=data)
    _need_no_node(data / _NODE / "lock")


def _need_no_node(lock: Path) -> None:
    """The hub's own node keeps running without its hub: agents that the backup does not know must not report to it."""
    if not lock.exists():
        return
    handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pid = lock.read_text().strip()
        end = f"end it and its agents with `greenroom stop --agents --data {lock.parent.parent}`"
        raise Refused("node_running", "conflict", pid=pid, end=end) from None
    finally:
        os.close(handle)


def _unpack(file: IO[bytes], staged: Path) -> BackupManifest:
    """Take exactly what the manifest names out of the file, each with its digest; names in the file lead nowhere."""
    (staged / FILES).mkdir(mode=0o700)
    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            manifest = _read_manifest(tar)
            if sum(manifest.files.values()) + manifest.size > shutil.disk_usage(staged).free:
                raise Unavailable("storage_full.restore", 5)
            wanted = {FILE: (staged / FILE, manifest.size, manifest.digest)}
            for name, size in manifest.files.items():
                wanted[build_member_name(name)] = (build_blob_path(staged / FILES, name), size, name)
            for member in iter(tar.next, None):
                if member.name not in wanted or member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise _make_damaged_error(
                        f"it holds {member.name[:80]!r}, which does not belong there or comes twice"
                    )
                _take(tar, member, *wanted.pop(member.name))
    except (tarfile.TarError, msgspec.MsgspecError, ValueError, EOFError) as error:
        raise _make_damaged_error(f"it cannot be read ({error})") from error
    if wanted:
        raise _make_damaged_error(f"it is not whole: {len(wanted)} of its parts are missing")
    return manifest


def _read_manifest(tar: tarfile.TarFile) -> BackupManifest:
    member = tar.next()
    source = tar.extractfile(member) if member and member.isreg() and member.name == MANIFEST else None
    if member is None or source is None or member.size > _MANIFEST_BYTES:
        raise _make_damaged_error("it does not begin with the manifest of a Greenroom backup")
    manifest = msgspec.json.decode(source.read(), type=BackupManifest)
    if manifest.format > FORMAT or manifest.schema > SCHEMA:
        raise Refused("newer_backup", "conflict", greenroom=manifest.greenroom)
    return manifest


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path, size: int, digest: str) -> None:
    source = tar.extractfile(member)
    if source is None or member.size != size:
        raise _make_damaged_error(f"{member.name} has not the size that the manifest says")
    place.parent.mkdir(mode=0o700, exist_ok=True)
    found = hashlib.sha256()
    with source, create_private_file(place) as out:
        while block := source.read(_BLOCK):
            found.update(block)
            out.write(block)
        sync_file(out)
    if found.hexdigest() != digest:
        raise _make_damaged_error(f"{member.name} has not the digest that the manifest says")


def _need_manifest_kept(staged: Path, manifest: BackupManifest) -> None:
    with contextlib.closing(need_sound_database(staged / FILE)) as connection:
        if (read_head(connection), connection.pragma("user_version")) != (manifest.seq, manifest.schema):
            raise _make_damaged_error("its database is not the one that the manifest describes")


def _move_aside(data: Path) -> None:
    moved = [data / name for name in _REPLACED_FILES if (data / name).exists()]
    if moved:
        aside = data / f"{_REPLACED}{format_iso(SystemClock().now()).replace(':', '')}"
        aside.mkdir(mode=0o700)
        for path in moved:
            path.rename(aside / path.name)


def _make_damaged_error(what: str) -> Refused:
    return Refused("backup_damaged", what=what)


def _open_backup(file: Path) -> IO[bytes]:
    try:
        return file.open("rb")
    except OSError as error:
        raise Refused("backup_not_found", "not_found", file=file, error=error.strerror) from error
