"""Large payloads as files, named by their digest, so that the database stays small."""

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from greenroom.errors import Unavailable
from greenroom.ids import new_id
from greenroom.log.data_directory import sync_folder

_NAME = re.compile(r"[0-9a-f]{64}")


class Blobs(Protocol):
    """Payloads by the digest of their bytes."""

    def keep(self, data: bytes) -> str:
        """Store the bytes and return their name; the same bytes are stored once.

        They are held from now on: to be released when the log names them, or does not want them.
        """
        ...

    def release(self, name: str) -> None:
        """Who kept it has no more need to hold it."""
        ...

    def read(self, name: str) -> bytes | None:
        """The bytes, or None when there are none under this name."""
        ...

    def drop(self, name: str) -> None:
        """Remove a payload that nothing names any more; one that somebody holds stays, and is their concern."""
        ...

    def close(self) -> None:
        """Close open files."""
        ...


class FileBlobs:
    """A folder of files. A name that `keep` returns is on disk."""

    def __init__(self, folder: Path, is_named: Callable[[str], bool] = lambda name: False) -> None:
        self.folder = folder
        self._is_named = is_named
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        with self._lock:
            self._held[name] += 1
        try:
            self._write(name, data)
        except Unavailable:
            self.release(name)
            raise
        return name

    def release(self, name: str) -> None:
        with self._lock:
            self._held[name] -= 1
            if self._held[name] <= 0:
                del self._held[name]

    def _write(self, name: str, data: bytes) -> None:
        path = self.path(name)
        if path.exists():
            return
        part = path.with_suffix(f".{new_id('part')}")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
            sync_folder(path.parent)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise Unavailable("storage_full.file", 5, error=error) from error

    def read(self, name: str) -> bytes | None:
        try:
            with os.fdopen(os.open(self.path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                return file.read()
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise Unavailable("storage_unreadable", 5, error=error) from error

    def drop(self, name: str) -> None:
        with self._lock:
            if name not in self._held and not self._is_named(name):
                self.path(name).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """All names held."""
        return sorted(path.name for path in self.folder.glob("*/*") if _NAME.fullmatch(path.name))

    def close(self) -> None:
        pass

    def path(self, name: str) -> Path:
        """The path of a name; a name that is no digest raises ValueError."""
        return build_blob_path(self.folder, name)


def build_blob_path(folder: Path, name: str) -> Path:
    """The path of a name in a folder of files; a name that is no digest raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return folder / name[:2] / name
