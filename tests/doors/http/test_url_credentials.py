"""Programs that can send no credential in a header: off by default, narrow, listed and revocable."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.pictures import png


@pytest.fixture(scope="module")
def open_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    data = tmp_path_factory.mktemp("hub") / "data"
    yield from checked(HubProcess(data, {"GREENROOM_CREDENTIAL_IN_URL": "true"}))


def new_token(hub: HubProcess, kind: str = "operator") -> tuple[str, str]:
    """The id and the token of a credential made for one program."""
    headers = {"Authorization": f"Bearer {hub.token}"}
    made = httpx.post(f"{hub.url}/api/credentials", json={"kind": kind, "name": "VS Code"}, headers=headers)
    assert made.status_code == 201, made.text
    return made.json()["id"], made.json()["token"]


def test_by_default_a_credential_in_the_url_is_nothing(shared_hub: HubProcess) -> None:
    _, token = new_token(shared_hub)
    assert httpx.get(f"{shared_hub.url}/with/{token}/api/threads").status_code == 401
    assert httpx.get(f"{shared_hub.url}/api/threads", params={"token": token}).status_code == 401
    with pytest.raises(InvalidStatus):
        connect(shared_hub.url.replace("http", "ws", 1) + f"/agent_backend/ws/s1?token={token}").__enter__()


def test_the_extension_plays_a_whole_session_with_a_server_url_that_holds_its_token(open_hub: HubProcess) -> None:
    mine, token = new_token(open_hub)
    with httpx.Client(base_url=f"{open_hub.url}/with/{token}", timeout=WAIT_S) as extension:
        assert extension.get("/health").status_code == 200
        me = extension.post("/api/agents/register", json={"ide": "VS Code", "model": "human"}).json()
        proof = {"X-Agent-Token": me["token"]}
        body = {"topic": "from the extension", "creator_agent_id": me["agent_id"]}
        thread = extension.post("/api/threads", json=body, headers=proof).json()["id"]
        with extension.stream("GET", "/events") as events:
            lines = events.iter_lines()
            sync = extension.post(f"/api/threads/{thread}/sync-context", json={}).json()
            context = {"expected_last_seq": sync["current_seq"], "reply_token": sync["reply_token"]}
            words = {"author": "human", "content": "hello", **context}
            assert extension.post(f"/api/threads/{thread}/messages", json=words).status_code == 201
            assert any("msg.new" in line for line in lines)
        assert [m["content"] for m in extension.get(f"/api/threads/{thread}/messages").json()] == ["hello"]
        for path in ("/api/credentials", "/api/profiles", "/api/asks", "/api/runs", "/api/audit"):
            refused = extension.get(path)
            assert (refused.status_code, refused.json()["code"]) == (403, "not_by_url"), path
        assert extension.get("/api/threads", headers={"Origin": "https://evil.example"}).status_code == 403
        operator = {"Authorization": f"Bearer {open_hub.token}"}
        listed = httpx.get(f"{open_hub.url}/api/credentials", headers=operator).json()
        assert [one["name"] for one in listed if one["id"] == mine] == ["VS Code"]
        assert httpx.delete(f"{open_hub.url}/api/credentials/{mine}", headers=operator).status_code in (200, 204)
        wait_until(lambda: extension.get("/api/threads").status_code == 401)
        assert token not in httpx.get(f"{open_hub.url}/api/audit?limit=1000", headers=operator).text


def test_an_image_that_was_uploaded_is_shown_by_the_same_url(open_hub: HubProcess) -> None:
    _, token = new_token(open_hub)
    base = f"{open_hub.url}/with/{token}"
    kept = httpx.post(f"{base}/api/upload/image", files={"file": ("a.png", png())}, timeout=WAIT_S).json()
    shown = httpx.get(base + kept["url"], timeout=WAIT_S)
    assert (shown.status_code, shown.content) == (200, png())
    assert shown.headers["cross-origin-resource-policy"] == "cross-origin", (
        "the program's page has an origin of its own"
    )
    assert httpx.get(open_hub.url + kept["url"], timeout=WAIT_S).status_code == 401
    by_header = httpx.get(open_hub.url + kept["url"], headers={"Authorization": f"Bearer {token}"}, timeout=WAIT_S)
    assert by_header.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/with/gr_nonsense/ws", "/agent_backend/ws/s1", "/agent_backend/ws/s1?token=gr_x"])
def test_a_socket_that_is_refused_is_no_error_of_the_hub(open_hub: HubProcess, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(open_hub.url.replace("http", "ws", 1) + path).__enter__()
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body)["code"] in ("credential_wrong", "credential_missing")
    assert httpx.get(f"{open_hub.url}/health").status_code == 200
    assert "ERROR" not in open_hub.stderr


def test_the_old_stream_of_mcp_names_a_path_that_holds_the_token_too(open_hub: HubProcess) -> None:
    _, token = new_token(open_hub)
    accept = {"Accept": "text/event-stream"}
    with httpx.stream("GET", f"{open_hub.url}/with/{token}/sse", headers=accept, timeout=WAIT_S) as stream:
        told = next(line for line in stream.iter_lines() if line.startswith("data:"))
    assert told.removeprefix("data: ").startswith(f"/with/{token}/messages?session_id=")


def test_a_wrong_token_in_the_url_proves_nobody(open_hub: HubProcess, tmp_path: Path) -> None:
    assert httpx.get(f"{open_hub.url}/with/gr_nonsense/api/threads").status_code == 401
    assert httpx.get(f"{open_hub.url}/with//api/threads").status_code == 401
    _, viewer = new_token(open_hub, "viewer")
    made = httpx.post(f"{open_hub.url}/with/{viewer}/api/threads", json={"topic": "x"})
    assert made.status_code == 403, "a token is good for what it is good for in a header"


@pytest.mark.parametrize(
    "path",
    ["/agent_backend/ws/s1?token={}", "/agent_backend/ws?session_id=s1&token={}", "/with/{}/agent_backend/ws/s1"],
)
def test_agent_backends_socket_is_opened_by_its_query(open_hub: HubProcess, path: str) -> None:
    _, token = new_token(open_hub)
    with connect(open_hub.url.replace("http", "ws", 1) + path.format(token)) as ws:
        ws.send(json.dumps({"type": "get_agent_status", "data": {}}))
        status = json.loads(ws.recv(timeout=WAIT_S))["data"]["status"]
        assert (status["session_id"], status["state"]) == ("s1", "idle")


def test_run_tree_clients_connect_by_their_url(open_hub: HubProcess) -> None:
    _, token = new_token(open_hub)
    with connect(open_hub.url.replace("http", "ws", 1) + f"/ws?token={token}") as ws:
        ws.send(json.dumps({"type": "ping", "timestamp": 5}))
        assert json.loads(ws.recv(timeout=WAIT_S)) == {"type": "pong", "timestamp": 5}
