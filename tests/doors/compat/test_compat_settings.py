"""Each foreign protocol is there by default, and is gone when its setting is off, without the others."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

ASK = "/agentassistproto.SrvAgentAssist/AskQuestion"
CHAT = "/agent_backend/chat/chat"
SERVED = {"assist", "agent_backend", "run_tree", "legacy_sse"}


def find_served(hub: HubProcess) -> set[str]:
    """The protocols that the hub speaks."""
    headers = {"Authorization": f"Bearer {hub.token}"}
    with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as http:
        status = {path: http.post(path, json={}).status_code for path in (ASK, CHAT, "/messages")}
        declared = http.get("/openapi.json").json()["paths"]
    for path in (ASK, CHAT):
        assert (path in declared) == (status[path] != 404)
    names = {ASK: "assist", CHAT: "agent_backend", "/messages": "legacy_sse"}
    found = {names[path] for path, code in status.items() if code != 404}
    return found | ({"run_tree"} if answers_text(hub) else set())


def answers_text(hub: HubProcess) -> bool:
    try:
        with open_socket(hub) as ws:
            ws.send('{"type": "ping"}')
            return "pong" in str(ws.recv(timeout=WAIT_S))
    except (ConnectionClosed, InvalidStatus):
        return False


def open_socket(hub: HubProcess) -> connect:
    headers = {"Authorization": f"Bearer {hub.token}"}
    return connect(hub.url.replace("http", "ws", 1) + "/ws", additional_headers=headers)


@pytest.fixture
def started() -> Iterator[list[HubProcess]]:
    hubs: list[HubProcess] = []
    yield hubs
    for hub in hubs:
        hub.stop()


def start(hubs: list[HubProcess], data: Path, *off: str) -> HubProcess:
    hub = HubProcess(data, {f"GREENROOM_COMPAT_{name.upper()}": "false" for name in off})
    hubs.append(hub)
    return hub.start()


def test_every_foreign_protocol_is_served_by_default(hub: HubProcess) -> None:
    assert find_served(hub) == SERVED


@pytest.mark.parametrize("off", sorted(SERVED))
def test_a_protocol_whose_setting_is_off_is_gone_and_the_others_stay(
    off: str, tmp_path: Path, started: list[HubProcess]
) -> None:
    assert find_served(start(started, tmp_path / "data", off)) == SERVED - {off}


def test_binary_frames_end_the_connection_when_nobody_serves_them(tmp_path: Path, started: list[HubProcess]) -> None:
    hub = start(started, tmp_path / "data", "assist")
    with open_socket(hub) as ws:
        ws.send(b"\x00")
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(timeout=WAIT_S)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1003


def test_the_shared_socket_is_gone_when_neither_of_its_protocols_is_served(
    tmp_path: Path, started: list[HubProcess]
) -> None:
    hub = start(started, tmp_path / "data", "assist", "run_tree")
    with pytest.raises(InvalidStatus), open_socket(hub):
        pass
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=WAIT_S) as http:
        assert http.get("/api/people").status_code == 200, "the page shows people without Agent Assistant's clients"
