"""Local programs without a credential, where the operator lets them in: the bus's clients as they always called."""

from collections.abc import Iterator

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.doors.rest.rest_rig import Rest, code_of


@pytest.fixture(scope="module")
def open_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    data = tmp_path_factory.mktemp("hub") / "data"
    yield from checked(HubProcess(data, args=("--allow-anonymous-local",)))


@pytest.fixture
def rest(open_hub: HubProcess) -> Iterator[Rest]:
    with Rest(open_hub) as rest:
        yield rest


def register(client: httpx.Client, ide: str) -> tuple[str, dict[str, str]]:
    said = client.post("/api/agents/register", json={"ide": ide, "model": "M"}).json()
    return said["agent_id"], {"X-Agent-Token": said["token"]}


def test_a_client_of_the_bus_works_without_a_credential(rest: Rest) -> None:
    anyone = rest.client()
    agent, proof = register(anyone, "Local")
    body = {"topic": "local", "creator_agent_id": agent}
    made = anyone.post("/api/threads", json=body, headers=proof)
    assert made.status_code == 201
    path = f"/api/threads/{made.json()['id']}"
    assert anyone.post(f"{path}/messages", json={"author": agent, "content": "hi"}, headers=proof).status_code == 201
    context = anyone.post(f"{path}/sync-context", json={"agent_id": agent}).json()
    sync = {"expected_last_seq": context["current_seq"], "reply_token": context["reply_token"]}
    posted = anyone.post(f"{path}/messages", json={"author": agent, "content": "again", **sync})
    assert posted.status_code == 201
    assert [m["content"] for m in anyone.get(f"{path}/messages").json()] == ["hi", "again"]
    assert "local" in [t["topic"] for t in anyone.get("/api/threads").json()["threads"]]
    assert anyone.post(f"{path}/close", json={}, headers=proof).json() == {"ok": True}


def test_what_others_made_is_not_there_for_them(rest: Rest) -> None:
    anyone = rest.client()
    ours = rest.agent("Ours")
    thread = rest.thread(ours, topic="ours")
    message = ours.post(thread, "secret zebra").json()["id"]
    agent, proof = register(anyone, "Nosy")
    for headers in ({}, proof):
        for path in (f"/api/threads/{thread}", f"/api/threads/{thread}/messages", f"/api/messages/{message}"):
            assert anyone.get(path, headers=headers).status_code == 404
        assert anyone.get("/api/search", params={"q": "zebra"}, headers=headers).json()["total"] == 0
        assert ours.id not in {a["id"] for a in anyone.get("/api/agents", headers=headers).json()}
        assert anyone.get(f"/api/agents/{ours.id}", headers=headers).status_code == 404
        assert code_of(anyone.get("/api/metrics", headers=headers)) == (403, "forbidden")
        assert code_of(anyone.get("/api/credentials", headers=headers)) == (403, "forbidden")
    listed = anyone.get("/api/threads").json()
    assert thread not in {t["id"] for t in listed["threads"]}
    assert listed["total"] == len(listed["threads"])
    same = anyone.post("/api/threads", json={"topic": "ours", "creator_agent_id": agent}, headers=proof).json()
    assert same["id"] != thread
    forged = anyone.post(f"/api/threads/{same['id']}/messages", json={"author": ours.id, "content": "forged"})
    assert code_of(forged) == (403, "author_not_yours")
