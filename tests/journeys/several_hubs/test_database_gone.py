"""The database of two hubs goes away and comes back: they say so meanwhile, and go on by themselves."""

from pathlib import Path

import httpx

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import postgres_server
from tests.rules.workflows.conformance import Crashing


def test_hubs_whose_database_was_gone_finish_the_workflows_that_were_under_way(tmp_path: Path) -> None:
    steps = [
        {"id": "wait", "wait": {"seconds": 3}},
        {"id": "each", "set": {"n": "index"}, "for_each": {"items": [0] * 30}, "dependencies": ["wait"]},
    ]
    at_once = {"name": "at once", "steps": [{"id": "each", "set": {"n": "index"}, "for_each": {"items": [0] * 30}}]}
    with postgres_server() as server:
        env = {"GREENROOM_DATABASE": server.create_database()}
        with HubProcess(tmp_path / "a", env) as a, HubProcess(tmp_path / "b", env) as b:
            runs = [Crashing(a).start({"name": "later", "steps": steps}, "1"), Crashing(b).start(at_once, "2")]
            with Crashing(a).client() as client:
                new = client.post("/api/credentials", json={"kind": "agent", "name": "new"}).json()
            headers = {"Authorization": f"Bearer {new['token']}"}  # which no hub has seen yet
            paths = ("/health", "/api/me", "/api/threads")
            server.kill()
            for hub in (a, b):
                with Crashing(hub).client() as client:
                    wait_until(lambda client=client: client.get("/api/threads").status_code == 503)
                    assert client.get("/api/threads").json()["code"] == "storage_unreachable"
                assert {httpx.get(f"{hub.url}{path}", headers=headers).status_code for path in paths} == {503}
            server.start()
            for hub, run_id in zip((b, a), runs, strict=True):
                assert run_id is not None
                with Crashing(hub).client() as client:
                    # lists and what waits are read over different connections, each of which is made again
                    for path in ("/api/threads", f"/api/workflow-runs/{run_id}/wait?for_s=1"):
                        wait_until(lambda client=client, path=path: client.get(path).status_code == 200)
                ended = Crashing(hub).end(run_id)
                assert (ended["status"], ended["output"]) == ("completed", {"each": [{"n": n} for n in range(30)]})
        for hub in (a, b):
            assert "Traceback" not in hub.stderr, hub.stderr


def test_a_hub_whose_database_is_gone_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with postgres_server() as server:
        hub = HubProcess(tmp_path / "data", {"GREENROOM_DATABASE": server.create_database()}).start()
        try:
            server.kill()
            wait_until(lambda: httpx.get(f"{hub.url}/health").status_code == 503)
        finally:
            assert hub.stop() == 0
        assert "Traceback" not in hub.stderr, hub.stderr
