"""A database that was damaged is never used or mended in silence: somebody is told what is wrong and what to do."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import apsw
import httpx
import pytest

from greenroom.app import NOUNS, open_hub
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.data_directory import MARK, StoreUnusable
from greenroom.log.store_sqlite import FILE
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import need_success, read_all_messages
from greenroom.testing.rest_agents import open_thread as open_rest_thread
from tests.faults.rig import QUIET, open_thread, post, talk

pytestmark = pytest.mark.anyio


async def leave_wal(data: Path, messages: int = 20) -> int:
    """A data directory as a crash leaves it: its newest events are in the WAL only. Returns the head."""
    copies = {}
    async with open_hub(data, QUIET) as hub:
        thread_id = await open_thread(hub)
        for number in range(messages):
            await post(hub, thread_id, f"message {number} {'w' * 500}")
        head = hub.store.head()
        for name in (FILE, f"{FILE}-wal", MARK):
            copies[name] = (data / name).read_bytes()
    for name, content in copies.items():
        (data / name).write_bytes(content)
    return head


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip(content: bytes) -> bytes:
    return content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 0x10]) + content[len(content) // 2 + 1 :]


def blank(content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut, flip, blank])
async def test_a_wal_that_lost_acknowledged_events_is_refused_at_start_and_found_by_check(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    data = tmp_path / "data"
    head = await leave_wal(data)
    wal = data / f"{FILE}-wal"
    wal.write_bytes(damage(wal.read_bytes()))
    code, said = HubProcess(data).start_refused()
    assert code == 1
    assert f"{head} were acknowledged" in said
    assert "greenroom restore" in said
    assert len(said.strip().splitlines()) == 1
    assert "events_lost" in {finding.code for finding in check_sqlite(data, NOUNS).findings}


async def test_a_wal_as_a_crash_leaves_it_is_taken_up_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    head = await leave_wal(data)
    with (data / f"{FILE}-wal").open("ab") as wal:
        wal.write(bytes(range(256)) * 3)  # a frame that was being written when the power went
    async with open_hub(data, QUIET) as hub:
        assert hub.store.head() == head
    assert not check_sqlite(data, NOUNS).findings


async def test_without_the_mark_a_hub_goes_on_from_what_is_left(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await leave_wal(data)
    (data / f"{FILE}-wal").write_bytes(b"")
    (data / MARK).unlink()
    async with open_hub(data, QUIET) as hub:
        await post(hub, await open_thread(hub, "new"), "on")


async def test_flipped_bits_in_the_database_are_never_silent(tmp_path: Path) -> None:
    await talk(tmp_path / "whole", 200)
    whole = (tmp_path / "whole" / FILE).read_bytes()
    free = free_pages(tmp_path / "whole" / FILE)
    dice = random.Random(7)
    for number in range(40):
        data = tmp_path / f"{number}"
        data.mkdir(mode=0o700)
        place = dice.randrange(len(whole))
        if 92 <= place < 96 or 24 <= place < 28 or place // 4096 + 1 in free or unused(whole, place):
            continue  # counters that any writer may set, and space that holds nothing
        (data / FILE).write_bytes(whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :])
        assert await is_noticed(data), f"byte {place} of page {place // 4096 + 1}"


async def is_noticed(data: Path) -> bool:
    """Refused at start with a sentence, or named by check."""
    try:
        if not check_sqlite(data, NOUNS).ok:
            return True
        async with open_hub(data, QUIET):
            return False
    except StoreUnusable as error:
        return "greenroom" in str(error)


def free_pages(path: Path) -> set[int]:
    """Pages that hold nothing; nobody reads them."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    used = {page for (page,) in connection.execute("SELECT pageno FROM dbstat")}
    connection.close()
    return set(range(1, path.stat().st_size // 4096 + 1)) - used


def unused(whole: bytes, place: int) -> bool:
    """Whether a byte lies in the gap between a page's cell pointers and its cells, or in a free block."""
    start = place // 4096 * 4096
    page = whole[start : start + 4096]
    head = 100 if start == 0 else 0
    kind = page[head]
    if kind not in (2, 5, 10, 13):
        return True  # overflow pages and the like: their unused tail cannot be told here
    cells = int.from_bytes(page[head + 3 : head + 5])
    content = int.from_bytes(page[head + 5 : head + 7])
    pointers_end = head + (12 if kind in (2, 5) else 8) + 2 * cells
    return pointers_end <= place - start < content


@pytest.mark.parametrize(
    "content",
    [b"", b"SQLite format 3\0" + b"\xff" * 5000, b"this is no database at all" * 400],
    ids=["empty", "garbage", "text"],
)
async def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    data = tmp_path / "data"
    await talk(data, 3)
    (data / FILE).write_bytes(content)
    code, said = HubProcess(data).start_refused()
    assert code == 1
    assert str(data) in said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1


async def test_a_database_that_is_damaged_under_a_running_hub_is_told_of_and_not_mended(tmp_path: Path) -> None:
    data = tmp_path / "data"
    thread_id = await talk(data, 300)
    hub = HubProcess(data).start()
    with (data / FILE).open("r+b") as file:
        for page in range(2, file.seek(0, 2) // 4096):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    async with KeepAliveConnection(hub.url, hub.token) as line:
        for method, path, body in (
            ("GET", f"/api/threads/{thread_id}/messages?limit=300", None),
            ("POST", f"/api/threads/{thread_id}/messages", {"content": "lost?"}),
            ("GET", "/api/search?q=message", None),
        ):
            answer = await line.call(method, path, body)
            assert answer.status in (500, 503), (path, answer)
            assert "Traceback" not in answer.body.decode()
            assert answer.json["detail"]
        assert (await line.call("GET", "/health")).status == 200
    assert hub.stop() == 0
    assert "database_damaged" in {finding.code for finding in check_sqlite(data, NOUNS).findings}


async def test_a_post_to_a_database_that_is_damaged_while_the_hub_runs_is_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    hub = HubProcess(tmp_path / "data").start()
    thread_id = await open_rest_thread(hub.url, hub.token)
    path = f"/api/threads/{thread_id}/messages"
    async with KeepAliveConnection(hub.url, hub.token) as line:
        for number in range(100):
            need_success(await line.call("POST", path, {"content": f"message {number} {'w' * 500}"}))
    hub.stop()
    hub.start()  # it has read none of these messages
    file = hub.data / FILE
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    pages = [page for (page,) in connection.execute("SELECT pageno FROM dbstat WHERE name LIKE 'row_message%'")]
    connection.close()
    whole = file.read_bytes()
    async with KeepAliveConnection(hub.url, hub.token) as line:
        put_pages(file, dict.fromkeys(pages, b"\xff" * 4096))
        answer = await line.call("POST", path, {"content": "refused"})
        assert (answer.status, answer.json["code"]) == (503, "storage_damaged")
        assert "greenroom restore" in answer.json["detail"]
    hub.kill()
    put_pages(file, {page: whole[(page - 1) * 4096 : page * 4096] for page in pages})
    hub.restart()
    async with KeepAliveConnection(hub.url, hub.token) as line:
        need_success(await line.call("POST", path, {"content": "taken"}))
    contents = [message["content"] for message in await read_all_messages(hub.url, hub.token, thread_id)]
    assert (len(contents), contents[-1]) == (101, "taken")
    assert hub.stop() == 0
    assert not check_sqlite(hub.data, NOUNS).findings


def put_pages(file: Path, pages: dict[int, bytes]) -> None:
    with file.open("r+b") as opened:
        for page, content in pages.items():
            opened.seek((page - 1) * 4096)
            opened.write(content)


def test_a_message_whose_file_cannot_be_read_is_not_shown_by_half(hub: HubProcess, api: httpx.Client) -> None:
    thread_id = api.post("/api/threads", json={"topic": "long"}).json()["id"]
    path = f"/api/threads/{thread_id}/messages"
    api.post(path, json={"author": "human", "content": "long " * 20_000}).raise_for_status()
    (file,) = [one for one in hub.data.rglob("*") if re.fullmatch("[0-9a-f]{64}", one.name)]
    aside = file.rename(hub.data.parent / "aside")
    file.symlink_to(aside)  # which the hub follows nowhere
    answer = api.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unreadable")
    file.unlink()
    aside.rename(file)
    assert api.get(path).json()[0]["content"] == "long " * 20_000
