"""Floods with credentials that are valid: each meets a limit that says what it is, and nobody else does."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from greenroom.doors.compat.assist.agentassist_pb2 import WebsocketMessage
from greenroom.link import frames
from greenroom.link.reports import WordsReport
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import end_node
from tests.pictures import png
from tests.security.rig import Mcp
from tests.stage import Stage

Json = dict[str, Any]


def client(hub: HubProcess, token: str) -> httpx.Client:
    return httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT_S)


def register(hub: HubProcess, name: str, token: str = "") -> httpx.Client:
    """A client that is an agent of its own, enrolled by a credential: the operator's, if none is given."""
    with client(hub, token or hub.token) as enroller:
        made = enroller.post("/api/agents/register", json={"ide": name, "model": "fake"})
    return client(hub, made.raise_for_status().json()["token"])


def limited(hub: HubProcess) -> Json:
    with client(hub, hub.token) as operator:
        return dict(operator.get("/api/metrics").json()["limited"])


def used_bytes(data: Path) -> int:
    return sum(path.stat().st_size for path in data.glob("greenroom.db*"))


def test_a_run_whose_output_never_ends_is_cut_off_and_its_node_works_on(tmp_path: Path) -> None:
    most = 2_000_000
    env = {"GREENROOM_LOCAL_NODE": "1", "GREENROOM_MAX_RUN_BYTES": str(most)}
    with HubProcess(tmp_path / "data", env) as hub, Stage(hub) as stage:
        try:
            made = {"driver": "command", "command": ["yes", "y" * 80]}
            assert stage.api.put("/api/profiles/endless", json=made).status_code == 200
            ended = stage.end(stage.start("say yes", profile="endless"))
            assert (ended["status"], f"more than {most} bytes" in ended["error"]) == ("failed", True), ended
            assert most / 2 < ended["heard_bytes"] <= most
            assert stage.done("SAY still here")["output"] == "still here"
            assert used_bytes(hub.data) < 30 * most
        finally:
            end_node(hub.data)


def test_a_node_that_floods_is_read_at_its_pace_and_stays_connected(tmp_path: Path) -> None:
    with HubProcess(tmp_path / "data", {"GREENROOM_NODE_BYTES_PER_MINUTE": "12000000"}) as hub:
        with client(hub, hub.token) as operator:
            joined = operator.post("/api/nodes", json={"name": "flooding"}).json()
            address = hub.url.replace("http", "ws", 1) + "/node"
            headers = {"Authorization": f"Bearer {joined['token']}"}
            with connect(address, additional_headers=headers) as link:
                hello = frames.Hello(
                    version=frames.LINK_VERSION, boot="b", labels=[], capacity=1, drivers={}, live=[], newest=0
                )
                link.send(frames.encode(hello).decode())
                assert json.loads(link.recv(WAIT_S))["op"] == "welcome"
                for number in range(1, 66):
                    heard = WordsReport("x" * 200_000)
                    link.send(
                        frames.encode(frames.ItemFrame(number=number, run="run_none", at=1, heard=heard)).decode()
                    )
                while (acked := json.loads(link.recv(WAIT_S))).get("number") != 65:
                    assert acked["op"] in ("ack", "pong")
                assert operator.get("/api/nodes").json()[0]["state"] == "connected"
        assert limited(hub)["node_bytes_per_minute"] > 0


@pytest.fixture(scope="module")
def small_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    env = {
        "GREENROOM_BYTES_PER_MINUTE": "1000000",
        "GREENROOM_MAX_CALLS_PER_CREDENTIAL": "20",
        "GREENROOM_MAX_UPLOADS_BYTES": "500",
        "GREENROOM_POSTS_PER_MINUTE": "0",
    }
    with HubProcess(tmp_path_factory.mktemp("small") / "data", env) as hub:
        yield hub


def test_who_sends_too_many_bytes_a_minute_is_told_to_slow_down(small_hub: HubProcess) -> None:
    with register(small_hub, "loud") as loud, register(small_hub, "quiet") as quiet:
        thread = loud.post("/api/threads", json={"topic": "noise"}).json()["id"]
        answers = [loud.post(f"/api/threads/{thread}/messages", json={"content": "x" * 200_000}) for _ in range(12)]
        assert answers[0].status_code == 201
        refused = next(one for one in answers if one.status_code == 429)
        assert refused.json()["code"] == "too_many_bytes"
        assert int(refused.headers["retry-after"]) >= 1
        assert quiet.post("/api/threads", json={"topic": "calm"}).status_code == 201
    assert limited(small_hub)["bytes_per_minute"] > 0


@pytest.mark.parametrize("path", ["/sync", "/ws"])
def test_who_sends_too_many_bytes_over_a_socket_is_hung_up_on(small_hub: HubProcess, path: str) -> None:
    with register(small_hub, "loud") as loud, register(small_hub, "quiet") as quiet:
        address = small_hub.url.replace("http", "ws", 1) + path
        headers = {"Authorization": loud.headers["Authorization"]}
        with connect(address, additional_headers=headers) as link, pytest.raises(ConnectionClosed) as closed:
            for _ in range(50):
                link.send(json.dumps({"op": "ping", "type": "ping", "more": "x" * 50_000}))
                link.recv(WAIT_S)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "too_many_bytes")
        posted = loud.post("/api/threads", json={"topic": "x" * 400_000})
        assert (posted.status_code, posted.json()["code"]) == (429, "too_many_bytes"), "all doors share one count"
        assert quiet.post("/api/threads", json={"topic": f"calm {path}"}).status_code == 201


def test_so_is_a_device_whose_first_frame_has_proven_it(small_hub: HubProcess) -> None:
    with client(small_hub, small_hub.token) as operator:
        made = {"kind": "room", "name": "guest", "room": "kitchen"}
        token = operator.post("/api/credentials", json=made).raise_for_status().json()["token"]
    with connect(small_hub.url.replace("http", "ws", 1) + "/ws") as link, pytest.raises(ConnectionClosed) as closed:
        link.send(WebsocketMessage(Cmd="UserLogin", StrParam=token).SerializeToString())
        link.recv(WAIT_S)
        for _ in range(50):
            link.send(WebsocketMessage(Cmd="GetOnlineUsers", StrParam="x" * 50_000).SerializeToString())
            link.recv(WAIT_S)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "too_many_bytes")


def test_who_opens_too_many_sockets_gets_no_more_and_others_do(small_hub: HubProcess) -> None:
    with register(small_hub, "many") as many, register(small_hub, "few") as few, ExitStack() as open_ones:
        address = small_hub.url.replace("http", "ws", 1) + "/sync"
        for _ in range(20):
            open_ones.enter_context(
                connect(address, additional_headers={"Authorization": many.headers["Authorization"]})
            )
        refused = many.get("/api/threads")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_calls")
        assert few.get("/api/threads").status_code == 200
    assert limited(small_hub)["max_calls_per_credential"] > 0


def test_uploads_of_one_credential_are_bounded_in_all(small_hub: HubProcess) -> None:
    with register(small_hub, "painter") as painter, register(small_hub, "other") as other:
        big = {"file": ("a.png", png(text=os.urandom(8).hex().encode() * 8), "image/png")}
        answers = [painter.post("/api/upload/image", files=big) for _ in range(20)]
        assert answers[0].status_code == 200
        assert (answers[-1].status_code, answers[-1].json()["code"]) == (429, "too_many_uploads")
        assert other.post("/api/upload/image", files=big).status_code == 200


def test_an_upload_is_shown_to_others_only_by_who_may_see_it(small_hub: HubProcess) -> None:
    made = {"kind": "agent", "name": "outside", "rights": ["read", "chat", "register"]}
    with client(small_hub, small_hub.token) as operator:
        outside = operator.post("/api/credentials", json=made).raise_for_status().json()["token"]
    with register(small_hub, "owner") as owner, register(small_hub, "finder", outside) as finder:
        image = owner.post("/api/upload/image", files={"file": ("a.png", png(), "image/png")}).json()
        thread = finder.post("/api/threads", json={"topic": "found"}).json()["id"]
        path = f"/api/threads/{thread}/messages"
        for said in (
            {"content": f"look: {image['url']}"},
            {"content": "look", "images": [{"url": image["url"]}]},
            {"content": "look", "metadata": {"at": image["id"]}},
        ):
            refused = finder.post(path, json=said)
            assert (refused.status_code, refused.json()["code"]) == (404, "upload_not_found"), said
        posted = finder.post(path, json={"content": "nothing"}).json()
        edited = finder.put(f"/api/messages/{posted['id']}", json={"content": image["url"]})
        assert (edited.status_code, edited.json()["code"]) == (404, "upload_not_found")
        assert finder.get(image["url"]).status_code == 404
        own = owner.post("/api/threads", json={"topic": "shown"}).json()["id"]
        assert owner.post(f"/api/threads/{own}/messages", json={"content": image["url"]}).status_code == 201


@pytest.mark.parametrize(("tool", "fields"), [("msg_list", {"limit": 1000}), ("msg_wait", {"timeout_ms": 0})])
def test_no_tool_reads_more_long_messages_at_once_than_fit_the_memory(
    api: httpx.Client, tool: str, fields: dict[str, int]
) -> None:
    thread = api.post("/api/threads", json={"topic": "t"}).json()["id"]
    for number in range(40):
        body = {"author": "human", "content": f"{number} {'x' * 999_000}"}
        assert api.post(f"/api/threads/{thread}/messages", json=body).status_code == 201
    mcp, after = Mcp(api), 0
    seen: list[str] = []
    while len(seen) < 40:
        found = mcp.call(tool, thread_id=thread, after_seq=after, return_format="json", **fields)
        page = [one for one in (found if isinstance(found, list) else found["messages"]) if one["seq"] > after]
        assert sum(len(one["content"]) for one in page) < 20_000_000
        seen += [one["content"].partition(" ")[0] for one in page if one["author"] == "human"]
        after = page[-1]["seq"]
    assert seen == [str(number) for number in range(40)]


def test_the_history_of_a_message_holds_no_more_long_versions_than_fit_the_memory(api: httpx.Client) -> None:
    thread = api.post("/api/threads", json={"topic": "t"}).json()["id"]
    body = {"author": "human", "content": "0 " + "x" * 999_000}
    message = api.post(f"/api/threads/{thread}/messages", json=body).json()["id"]
    for number in range(1, 31):
        changed = api.put(f"/api/messages/{message}", json={"content": f"{number} {'x' * 999_000}"})
        assert changed.status_code == 200, changed.text
    for told in (
        api.get(f"/api/messages/{message}/history").json(),
        Mcp(api).call("msg_edit_history", message_id=message),
    ):
        assert told["current_content"].startswith("30 ")
        versions = [edit["old_content"].partition(" ")[0] for edit in told["edits"]]
        assert versions == [str(number) for number in range(30 - len(versions), 30)]
        assert 10 < len(versions) < 20
