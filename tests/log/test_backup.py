"""A backup holds everything acknowledged before it began, and comes back whole or not at all."""

import asyncio
import contextlib
import fcntl
import io
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec
import pytest

from greenroom.errors import Refused, Unavailable
from greenroom.log import backup as module
from greenroom.log.backup import BackupManifest, backup
from greenroom.log.blobs import FileBlobs
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.data_directory import StoreUnusable
from greenroom.log.restore import restore
from greenroom.testing.timeouts import WAIT_S
from tests.log.notebook import NOTEBOOK, NOTES, WRITER, EraseNote, TearPage, note, open_notebook

pytestmark = pytest.mark.anyio
NOUNS = (NOTEBOOK,)
STORY = b"a long story"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    asyncio.run(fill(data))
    (data / "operator.token").write_text("gr_operator_secret")
    return data


async def fill(data: Path) -> None:
    file = FileBlobs(data / "files").keep(STORY)
    async with open_notebook(data) as log:
        await asyncio.gather(*[log.do(note(n, f"thought {n}", key=f"k{n}")) for n in range(50)])
        await log.do(note("story", "a long", file=file))
        await log.do(EraseNote(by=WRITER, id="n5"))


@pytest.fixture
def saved(notebook: Path, tmp_path: Path) -> Path:
    backup(notebook, tmp_path / "saved.tar", NOUNS)
    return tmp_path / "saved.tar"


def members(file: Path) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(file) as tar:
        return {m.name: (m, tar.extractfile(m).read()) for m in tar}  # type: ignore[union-attr]


def rewrite(file: Path, parts: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    with tarfile.open(file, "w") as tar:
        for info, content in parts:
            info.size = len(content) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(content))


def manifest_of(file: Path) -> BackupManifest:
    return msgspec.json.decode(members(file)["manifest.json"][1], type=BackupManifest)


async def test_a_backup_comes_back_as_it_was(notebook: Path, saved: Path, tmp_path: Path) -> None:
    made = restore(saved, tmp_path / "new")
    checked = check_sqlite(tmp_path / "new", NOUNS)
    assert (made.seq, checked.seq, checked.files, checked.findings) == (52, 52, 1, [])
    assert checked.chain == check_sqlite(notebook, NOUNS).chain
    async with open_notebook(tmp_path / "new") as log:
        assert log.rows.count(NOTES) == 50
        assert (await log.do(note(7, key="k7"))).repeated
        assert (await log.do(note(1000))).seq == 53


def test_a_backup_is_for_its_owner_only_and_carries_no_token(saved: Path) -> None:
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    names = sorted(members(saved))
    assert names[-2:] == ["greenroom.db", "manifest.json"]
    assert len(names) == 3
    assert b"gr_operator_secret" not in saved.read_bytes()
    assert [path.name for path in saved.parent.iterdir() if path.name.startswith(".")] == []


def test_restored_files_are_for_their_owner_only(saved: Path, tmp_path: Path) -> None:
    restore(saved, tmp_path / "new")
    for path in (tmp_path / "new").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


async def test_what_was_deleted_is_not_in_a_backup(notebook: Path, tmp_path: Path) -> None:
    async with open_notebook(notebook) as log:
        await log.do(TearPage(by=WRITER, name="first"))
    made = backup(notebook, tmp_path / "saved.tar", NOUNS)
    assert made.files == {}


async def test_a_backup_under_load_holds_every_message_acknowledged_before_it_began(tmp_path: Path) -> None:
    data = tmp_path / "data"
    acknowledged: list[int] = []

    async with open_notebook(data) as log:
        going = True

        async def client(name: int) -> None:
            number = 0
            while going:
                acknowledged.append((await log.do(note(f"{name}-{number}", page=f"p{name}"))).seq)
                number += 1

        clients = [asyncio.create_task(client(name)) for name in range(8)]
        for number in range(4):
            while len(acknowledged) < 200 * (number + 1):  # noqa: ASYNC110 bounded by the test's timeout
                await asyncio.sleep(0.001)
            before = list(acknowledged)
            made = await asyncio.to_thread(backup, data, tmp_path / f"{number}.tar", NOUNS)
            assert made.seq >= max(before)
        going = False
        await asyncio.gather(*clients)
    for number in range(4):
        restore(tmp_path / f"{number}.tar", tmp_path / f"copy{number}")
        checked = check_sqlite(tmp_path / f"copy{number}", NOUNS)
        assert checked.findings == []
        assert checked.seq >= 200 * (number + 1)


async def test_a_file_dropped_while_the_backup_is_made_makes_it_begin_again(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_notebook(notebook) as log:
        copy = module._copy_database
        loop = asyncio.get_running_loop()
        copies = 0

        def copy_then_drop(source: Path, target: Path) -> None:
            nonlocal copies
            copies += 1
            copy(source, target)
            if copies == 1:
                asyncio.run_coroutine_threadsafe(log.do(EraseNote(by=WRITER, id="nstory")), loop).result(WAIT_S)
                (file,) = (notebook / "files").glob("*/*")
                file.unlink()

        monkeypatch.setattr(module, "_copy_database", copy_then_drop)
        made = await asyncio.to_thread(backup, notebook, tmp_path / "saved.tar", NOUNS)
    assert (copies, made.seq, made.files, made.left_out) == (2, 53, {}, [])
    restore(tmp_path / "saved.tar", tmp_path / "new")
    assert check_sqlite(tmp_path / "new", NOUNS).findings == []


def test_a_missing_or_damaged_payload_is_left_out_and_named(notebook: Path, tmp_path: Path) -> None:
    (file,) = (notebook / "files").glob("*/*")
    file.write_bytes(b"something else")
    made = backup(notebook, tmp_path / "saved.tar", NOUNS)
    assert (made.files, made.left_out) == ({}, [file.name])
    restore(tmp_path / "saved.tar", tmp_path / "new")
    assert [f.code for f in check_sqlite(tmp_path / "new", NOUNS).findings] == ["file_missing"]


def test_a_damaged_database_is_not_backed_up(notebook: Path, tmp_path: Path) -> None:
    with contextlib.closing(apsw.Connection(str(notebook / "greenroom.db"))) as connection:
        connection.execute("VACUUM")
    with (notebook / "greenroom.db").open("r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xa5" * 4096)
    with pytest.raises(Refused) as refused:
        backup(notebook, tmp_path / "saved.tar", NOUNS)
    assert refused.value.code == "database_damaged"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_data_of_a_newer_program_is_not_backed_up_by_an_older_one(notebook: Path, tmp_path: Path) -> None:
    with contextlib.closing(apsw.Connection(str(notebook / "greenroom.db"))) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(Refused) as refused:
        backup(notebook, tmp_path / "saved.tar", NOUNS)
    assert refused.value.code == "newer_schema"


def test_a_backup_does_not_replace_a_file_and_needs_a_folder_and_a_hub(notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("precious")
    with pytest.raises(Refused) as refused:
        backup(notebook, tmp_path / "there", NOUNS)
    assert refused.value.code == "target_exists"
    with pytest.raises(Unavailable):
        backup(notebook, tmp_path / "nowhere" / "saved.tar", NOUNS)
    with pytest.raises(StoreUnusable):
        backup(tmp_path / "empty", tmp_path / "saved.tar", NOUNS)


async def test_restore_is_refused_into_a_directory_in_use_or_not_empty(
    saved: Path, notebook: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as refused:
        restore(saved, notebook)
    assert (refused.value.code, "--force" in refused.value.message) == ("not_empty", True)
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home" / "letter").write_text("dear")
    for force in (False, True):
        with pytest.raises(Refused) as refused:
            restore(saved, tmp_path / "home", force=force)
        assert (refused.value.code, "--force" in refused.value.message) == ("not_empty", False)
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o755
    async with open_notebook(notebook):
        with pytest.raises(StoreUnusable, match="hub is using"):
            restore(saved, notebook, force=True)


async def test_restore_by_force_moves_the_old_data_aside_and_keeps_the_settings(saved: Path, notebook: Path) -> None:
    async with open_notebook(notebook) as log:
        await log.do(note("later"))
    _restore_by_force_twice(saved, notebook)


def _restore_by_force_twice(saved: Path, data: Path) -> None:
    (data / "greenroom.toml").write_text("port = 1")
    (data / "ann.token").write_text("gr_agent_secret")
    old = check_sqlite(data, NOUNS)
    restore(saved, data, force=True)
    assert check_sqlite(data, NOUNS).seq == 52
    assert (data / "greenroom.toml").read_text() == "port = 1"
    assert (data / "ann.token").exists()
    assert not (data / "operator.token").exists()
    (aside,) = data.glob("replaced-*")
    assert (check_sqlite(aside, NOUNS).seq, check_sqlite(aside, NOUNS).findings) == (old.seq, [])
    restore(saved, data, force=True)
    assert len(list(data.glob("replaced-*"))) == 2


async def test_restore_by_force_takes_the_nodes_folder_away_unless_a_node_runs_in_it(
    saved: Path, notebook: Path
) -> None:
    lock = notebook / "node" / "lock"
    lock.parent.mkdir()
    lock.write_text("4711")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Refused) as refused:
            restore(saved, notebook, force=True)
        assert (refused.value.code, "stop --agents" in refused.value.message) == ("node_running", True)
    restore(saved, notebook, force=True)
    assert not lock.exists()
    assert list(notebook.glob("replaced-*/node/lock"))


def test_restore_into_a_directory_with_settings_only_keeps_them(saved: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    data.mkdir()
    (data / "greenroom.toml").write_text("port = 1")
    restore(saved, data)
    assert sorted(path.name for path in data.iterdir()) == ["files", "greenroom.db", "greenroom.toml", "lock"]


def refused_restore(file: Path, data: Path) -> Refused:
    """Why a restore was refused; nothing of it is left behind."""
    with pytest.raises(Refused) as refused:
        restore(file, data)
    assert not data.exists() or {path.name for path in data.iterdir()} <= {"lock"}
    assert [path for path in data.parent.rglob("*") if path.name in ("evil", "passwd")] == []
    return refused.value


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.8, 0.97])
def test_a_cut_backup_is_refused(saved: Path, tmp_path: Path, share: float) -> None:
    content = saved.read_bytes().rstrip(b"\0")  # an archive may lose what it is padded with
    saved.write_bytes(content[: int(len(content) * share)])
    assert refused_restore(saved, tmp_path / "new").code == "backup_damaged"


@pytest.mark.parametrize("share", [n / 40 for n in range(36)])
def test_a_flipped_bit_anywhere_is_refused_or_harmless(saved: Path, tmp_path: Path, share: float) -> None:
    data = bytearray(saved.read_bytes())
    place = int(len(data) * share) + 7
    data[place] ^= 0x04
    saved.write_bytes(data)
    try:
        restore(saved, tmp_path / "new")
    except Refused as refused:
        assert refused.code == "backup_damaged", refused.message
    else:  # a bit of padding, or of the manifest's prose
        assert check_sqlite(tmp_path / "new", NOUNS).findings == []


def hostile(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


@pytest.mark.parametrize(
    "extra",
    [
        hostile("../evil"),
        hostile("/tmp/evil"),
        hostile("files/../../evil"),
        hostile("files/ab/../../../evil"),
        hostile("evil"),
        hostile("operator.token"),
        hostile("greenroom.toml"),
        hostile("files/evil", tarfile.SYMTYPE, "/etc/passwd"),
        hostile("greenroom.db", tarfile.SYMTYPE, "/etc/passwd"),
        hostile("greenroom.db", tarfile.LNKTYPE, "/etc/passwd"),
        hostile("greenroom.db", tarfile.CHRTYPE),
        hostile("greenroom.db", tarfile.FIFOTYPE),
        hostile("files", tarfile.DIRTYPE),
        hostile("greenroom.db"),
        hostile("manifest.json"),
        hostile("GREENROOM.DB"),
    ],
    ids=lambda info: f"{info.type!r} {info.name}",
)
@pytest.mark.parametrize("first", [True, False])
def test_links_strangers_and_doubles_in_a_backup_are_refused(
    saved: Path, tmp_path: Path, extra: tarfile.TarInfo, first: bool
) -> None:
    parts = list(members(saved).values())
    parts.insert(1 if first else len(parts), (extra, b"evil"))
    rewrite(saved, parts)
    assert refused_restore(saved, tmp_path / "new").code == "backup_damaged"


def with_manifest(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def run(file: Path) -> None:
        parts = members(file)
        info, content = parts["manifest.json"]
        fields = msgspec.json.decode(content)
        change(fields)
        parts["manifest.json"] = (info, msgspec.json.encode(fields))
        rewrite(file, list(parts.values()))

    return run


@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (with_manifest(lambda m: m.update(schema=2)), "newer_backup"),
        (with_manifest(lambda m: m.update(format=2)), "newer_backup"),
        (with_manifest(lambda m: m.update(seq=51)), "backup_damaged"),
        (with_manifest(lambda m: m.update(files={})), "backup_damaged"),
        (with_manifest(lambda m: m.update(files={"../../evil": 4})), "backup_damaged"),
        (with_manifest(lambda m: m.update(files={"a" * 64: 4})), "backup_damaged"),
        (with_manifest(lambda m: m.update(size=1)), "backup_damaged"),
        (with_manifest(lambda m: m.update(digest="0" * 64)), "backup_damaged"),
        (with_manifest(lambda m: m.pop("digest")), "backup_damaged"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    saved: Path, tmp_path: Path, harm: Callable[[Path], None], code: str
) -> None:
    harm(saved)
    assert refused_restore(saved, tmp_path / "new").code == code


def test_a_backup_larger_than_the_disk_is_refused_before_anything_is_written(saved: Path, tmp_path: Path) -> None:
    with_manifest(lambda m: m.update(size=1 << 60))(saved)
    with pytest.raises(Unavailable) as unavailable:
        restore(saved, tmp_path / "new")
    assert unavailable.value.code == "storage_full"


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\x1f\x8b\x08\x00" + b"\0" * 600])
def test_a_file_that_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert refused_restore(tmp_path / "file", tmp_path / "new").code == "backup_damaged"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refused_restore(tmp_path / "nowhere", tmp_path / "new").code == "backup_not_found"


def test_an_interrupted_restore_is_done_again(saved: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    (data / ".restoring" / "files").mkdir(parents=True)
    (data / ".restoring" / "greenroom.db").write_text("half")
    restore(saved, data)
    assert check_sqlite(data, NOUNS).findings == []
    assert not (data / ".restoring").exists()
    assert manifest_of(saved).seq == 52
