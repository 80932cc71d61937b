"""Disks for tests: small ones that fill up."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """A file system of a few megabytes that can be filled to the last byte and emptied again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, leave: int = 0) -> None:
        """Take all the space there is, but for so many bytes."""
        with self._ballast.open("ab") as file:
            while (free := self.free() - leave) > 0:
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), free)
                file.seek(0, os.SEEK_END)

    def empty(self) -> None:
        """Give the space back."""
        self._ballast.unlink(missing_ok=True)

    def free(self) -> int:
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 6 MB."""
    path = tmp_path / "disk"
    path.mkdir()
    if ctypes.CDLL(None).mount(b"tmpfs", bytes(path), b"tmpfs", 0, b"size=6m,mode=0700") != 0:
        pytest.skip("a small disk cannot be mounted here: it takes root")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
