"""Payload files: named by their digest, whole or not there."""

import hashlib
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from greenroom.log.blobs import FileBlobs


def test_bytes_are_kept_under_their_digest_once_and_for_the_owner_only(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path / "files")
    name = blobs.keep(b"a long story")
    assert name == hashlib.sha256(b"a long story").hexdigest()
    assert blobs.keep(b"a long story") == name
    assert blobs.names() == [name]
    assert blobs.read(name) == b"a long story"
    assert stat.S_IMODE(blobs.path(name).stat().st_mode) == 0o600
    assert stat.S_IMODE(blobs.folder.stat().st_mode) == 0o700


def test_the_same_bytes_from_many_threads_are_one_whole_file(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    data = b"x" * 1_000_000
    with ThreadPoolExecutor(8) as threads:
        names = set(threads.map(lambda _: blobs.keep(data), range(40)))
    (name,) = names
    assert blobs.read(name) == data
    assert [path.name for path in tmp_path.glob("*/*")] == [name]


def test_a_dropped_file_is_gone_and_dropping_it_again_is_nothing(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    name = blobs.keep(b"x")
    blobs.release(name)
    blobs.drop(name)
    blobs.drop(name)
    assert blobs.read(name) is None
    assert blobs.names() == []


def test_a_file_that_somebody_is_about_to_name_is_not_dropped(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    name = blobs.keep(b"x")
    blobs.keep(b"x")
    blobs.release(name)
    blobs.drop(name)
    assert blobs.read(name) == b"x"
    blobs.release(name)
    blobs.drop(name)
    assert blobs.read(name) is None


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n", "/" + "a" * 63])
def test_a_name_that_is_no_digest_leads_nowhere(tmp_path: Path, name: str) -> None:
    blobs = FileBlobs(tmp_path)
    with pytest.raises(ValueError):
        blobs.path(name)
    assert blobs.read(name) is None
