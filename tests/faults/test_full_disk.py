"""A full disk: nothing is acknowledged that is not on it, reading goes on, and the rest does once there is room."""

import asyncio
import base64
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection
from greenroom.testing.rest_agents import open_thread, read_all_messages, register_agent
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import assert_in_order, staged
from tests.far_node import FarNode
from tests.faults.conftest import SmallDisk
from tests.stage import Stage

pytestmark = pytest.mark.anyio
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def cramped(small_disk: SmallDisk) -> Iterator[HubProcess]:
    """A hub whose data is on the small disk; its complaints are kept elsewhere."""
    hub = HubProcess(small_disk.path / "data", {"GREENROOM_COORDINATOR_S": "1"})
    hub.stderr_path = small_disk.path.parent / "hub.stderr"
    hub.start()
    yield hub
    small_disk.empty()
    assert_in_order(hub, hub.stop())


async def test_a_post_on_a_full_disk_is_refused_with_507_and_the_hub_recovers_by_itself(
    cramped: HubProcess, small_disk: SmallDisk
) -> None:
    thread_id = await open_thread(cramped.url, cramped.token)
    path = f"/api/threads/{thread_id}/messages"
    acknowledged: list[str] = []
    async with contextlib.AsyncExitStack() as stack:
        lines = [await stack.enter_async_context(KeepAliveConnection(cramped.url, cramped.token)) for _ in range(16)]

        async def post_until_refused(line: KeepAliveConnection) -> int:
            for _ in range(500):
                answer = await line.call("POST", path, {"content": "x" * 5000})
                if answer.status != 201:
                    assert answer.json["code"] == "storage_full"
                    assert int(answer.headers["retry-after"]) >= 1
                    return answer.status
                acknowledged.append(answer.json["id"])
            return 201

        small_disk.fill(leave=500_000)
        statuses = await asyncio.gather(*[post_until_refused(line) for line in lines])
        assert set(statuses) == {507}
        stored = await read_all_messages(cramped.url, cramped.token, thread_id)
        assert {m["id"] for m in stored} == set(acknowledged)
        assert len(stored) == len(acknowledged)
        small_disk.fill()
        assert await post_until_refused(lines[0]) == 507
        assert await post_until_refused(lines[0]) == 507
        small_disk.empty()
        assert (await lines[0].call("POST", path, {"content": "room again"})).status == 201
    assert len(await read_all_messages(cramped.url, cramped.token, thread_id)) == len(acknowledged) + 1


async def test_a_long_message_on_a_full_disk_is_refused_and_leaves_no_half_of_it(
    cramped: HubProcess, small_disk: SmallDisk
) -> None:
    thread_id = await open_thread(cramped.url, cramped.token)
    path = f"/api/threads/{thread_id}/messages"
    async with KeepAliveConnection(cramped.url, cramped.token) as line:
        small_disk.fill(leave=100_000)
        assert (await line.call("POST", path, {"content": "y" * 900_000})).status == 507
        small_disk.empty()
        assert [path for path in (cramped.data / "files").rglob("*") if path.is_file()] == []
        assert (await line.call("POST", path, {"content": "y" * 900_000})).status == 201
        assert (await read_all_messages(cramped.url, cramped.token, thread_id))[0]["content"] == "y" * 900_000


def test_an_upload_on_a_full_disk_is_refused_and_works_once_there_is_room(
    cramped: HubProcess, small_disk: SmallDisk
) -> None:
    with httpx.Client(base_url=cramped.url, headers={"Authorization": f"Bearer {cramped.token}"}) as client:
        image = {"file": ("dot.png", PNG, "image/png")}
        small_disk.fill()
        refused = client.post("/api/upload/image", files=image)
        assert refused.status_code == 507, refused.text
        small_disk.empty()
        assert client.post("/api/upload/image", files=image).status_code == 200


def test_a_backup_onto_a_full_disk_fails_in_one_line_and_leaves_nothing(hub: HubProcess, small_disk: SmallDisk) -> None:
    small_disk.fill(leave=20_000)
    target = small_disk.path / "backup.tar"
    backup = [sys.executable, "-m", "greenroom", "backup", str(target), "--data", str(hub.data)]
    done = subprocess.run(backup, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert [path.name for path in small_disk.path.iterdir()] == ["ballast"]


def test_a_hub_that_cannot_write_at_its_start_says_so_in_one_line(cramped: HubProcess, small_disk: SmallDisk) -> None:
    cramped.kill()
    small_disk.fill()
    code, said = cramped.start_refused(cramped.port)
    assert code in (1, 3)
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("greenroom: ")
    small_disk.empty()
    cramped.restart()


def test_a_node_on_a_full_disk_ends_no_agent_and_tells_all_once_there_is_room(
    small_disk: SmallDisk, tmp_path: Path
) -> None:
    data, node = tmp_path / "data", small_disk.path / "node"
    data.mkdir(mode=0o700)
    node.mkdir(mode=0o700)
    (data / "node").symlink_to(node)
    words = "word " * 100_000
    with contextlib.contextmanager(staged)(tmp_path) as stage:
        talks = stage.start(f"ASK Shall I?\nSAY {words}")
        sleeps = stage.start("SAY good night\nSLEEP 600")
        ask = stage.asked()
        stage.until(lambda: stage.run(sleeps)["status"] == "running", "the other to be at work")
        small_disk.fill(leave=100_000)
        stage.decide(ask["id"], "answer", text="yes").raise_for_status()
        stage.until(lambda: small_disk.free() < 20_000, "the disk to be full")
        assert stage.api.post(f"/api/runs/{sleeps}/cancel", json={}).status_code == 200
        node_program = psutil.Process(int((node / "lock").read_text()))
        stage.until(lambda: len(node_program.children()) == 1, "the agent to be stopped")
        small_disk.empty()
        ended = stage.end(talks)
        assert (ended["status"], ended["output"]) == ("completed", words)


async def test_that_a_message_was_delivered_is_written_once_there_is_room(
    cramped: HubProcess, small_disk: SmallDisk
) -> None:
    path = f"/api/threads/{await open_thread(cramped.url, cramped.token)}"
    _, token = await register_agent(cramped.url, cramped.token, "listener")
    with Stage(cramped) as stage:
        assert stage.api.post(f"{path}/messages", json={"content": "hello"}).status_code == 201
        own = {"Authorization": f"Bearer {token}"}
        assert stage.api.post(f"{path}/join", json={}, headers=own).status_code == 200
        small_disk.fill()
        too_much = {"content": "x" * 5000}
        stage.until(lambda: stage.api.post(f"{path}/messages", json=too_much).status_code == 507, "a full disk")
        heard = stage.api.get(f"{path}/wait", params={"after_seq": 0, "timeout_ms": 1000}, headers=own).json()
        assert heard["messages"][0]["content"] == "hello"
        stage.until(lambda: "was delivered must wait" in cramped.stderr, "the hub to note it in vain")
        before = stage.api.get("/api/metrics").json()["seq"]
        small_disk.empty()
        stage.until(lambda: stage.api.get("/api/metrics").json()["seq"] > before, "the hub to note it")


@pytest.fixture
def far(cramped: HubProcess, tmp_path: Path) -> Iterator[FarNode]:
    """A node with room for one agent, on a disk of its own, of the hub whose disk is small."""
    with Stage(cramped) as stage:
        node = FarNode(stage, tmp_path, "far", "--capacity", "1").start(cramped.url)
        node.wait_for("connected")
        yield node
        node.stop()


def test_a_node_that_ends_while_the_hubs_disk_is_full_is_let_in_again_once_there_is_room(
    far: FarNode, cramped: HubProcess, small_disk: SmallDisk
) -> None:
    small_disk.fill()
    far.stage.until(lambda: far.stage.api.post("/api/threads", json={"topic": "t"}).status_code == 507, "a full disk")
    far.kill()
    far.stage.until(lambda: "is gone must wait" in cramped.stderr, "the hub to miss the node")
    far.start(cramped.url)
    small_disk.empty()
    assert far.stage.done("SAY back", node="far")["output"] == "back"


def test_a_run_that_could_not_be_given_to_a_node_for_a_full_disk_is_given_to_it_later(
    far: FarNode, cramped: HubProcess, small_disk: SmallDisk
) -> None:
    first = far.stage.start("SAY here\nSLEEP 600")
    words = "word " * 40_000
    second = far.stage.start(f"SAY {words}")
    far.stage.until(lambda: far.stage.run(first)["status"] == "running", "the first to be at work")
    small_disk.fill(leave=190_000)
    assert far.stage.api.post(f"/api/runs/{first}/cancel", json={}).status_code == 200
    far.stage.until(lambda: "runs must wait for a node" in cramped.stderr, "the second to find no room on the disk")
    small_disk.empty()
    assert far.stage.end(second)["output"] == words
