"""The data directory: owned by one hub, closed to other users, with a mark of the last acknowledged event."""

import fcntl
import json
import os
from pathlib import Path

FILE = "greenroom.db"
HUB_FILE = "hub.json"
"""Where the hub that owns the directory is to be found: its url and its process."""
HUB_ID = "hub.id"
"""The name of this hub among several on one database."""
OPERATOR_TOKEN = "operator.token"  # noqa: S105 a file's name
MCP_TOKEN = "mcp.token"  # noqa: S105 a file's name
LOCK = "lock"
MARK = "head"
FILES = "files"
"""The folder of payload files."""
_DIGITS = 20


class StoreUnusable(Exception):
    """The data directory cannot be used as it is; the message says why and what to do."""


def acquire_directory(data: Path) -> int:
    """Make this process the only owner of a data directory, closed to other users; returns what to close at the end."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data.is_symlink() or data.stat().st_uid != os.getuid():
            raise StoreUnusable(f"{data} does not belong to you: choose another --data directory.")
        data.chmod(0o700)
        _need_no_links(data)
        lock = os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnusable(f"{data} cannot be used ({error.strerror}): choose another --data directory.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StoreUnusable(
            f"A hub is using {data} already{_describe_owner(data)}: use that one, or stop it, or choose another --data."
        ) from None
    return lock


def write_private(path: Path, data: str | bytes) -> None:
    """Write a file that only its owner can read, whole or not at all; a link in its place is not followed."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    part.replace(path)


def _need_no_links(data: Path) -> None:
    """Whoever could write here before it was closed may have led a name of ours to a file of somebody's."""
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", LOCK, MARK, HUB_FILE, HUB_ID, OPERATOR_TOKEN, FILES):
        if (data / name).is_symlink():
            raise StoreUnusable(f"{data / name} is a link: remove it, and start again.")


def need_database(data: Path) -> Path:
    """The database of a data directory."""
    path = data / FILE
    if not path.exists():
        raise StoreUnusable(f"There is no Greenroom database in {data}: name the data directory with --data.")
    return path


def _describe_owner(data: Path) -> str:
    """What the owner of a data directory has written down about itself, if it has come so far."""
    try:
        found = json.loads((data / HUB_FILE).read_bytes())
        return f", at {found['url']} (process {found['pid']})"
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk, after files in it were made or renamed."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_acknowledged_seq(data: Path) -> int:
    """The seq of the newest acknowledged event, according to the mark."""
    try:
        text = (data / MARK).read_bytes()
    except FileNotFoundError:
        return 0
    return int(text) if text.isdigit() else 0


class AcknowledgedMark:
    """The seq of the newest acknowledged event, so that a loss of the newest part of the log is noticed.

    SQLite drops a damaged or cut end of its WAL without a word; here the word is said. The mark is moved after each
    commit and never synced: whatever crash there is, an honest database is at least as far. Its file has a fixed
    size, so that a full disk does not stop it.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / MARK
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        text = os.pread(self._file, _DIGITS, 0)
        self._seq = int(text) if text.isdigit() else 0
        if not text:
            self._write(0)

    def need_reached(self, head: int) -> None:
        """Refuse a log that ends before the mark."""
        if head < self._seq:
            raise StoreUnusable(
                f"The log in {self._path.parent} ends at event {head}, but {self._seq} were acknowledged: its newest"
                " part is lost. Restore a backup with `greenroom restore`; or, to go on without what is lost, remove"
                f" {self._path} and start again."
            )

    def move(self, seq: int) -> None:
        """Everything up to this seq is on disk."""
        if seq != self._seq:
            self._write(seq)

    def _write(self, seq: int) -> None:
        os.pwrite(self._file, b"%0*d" % (_DIGITS, seq), 0)
        self._seq = seq

    def close(self) -> None:
        os.close(self._file)
