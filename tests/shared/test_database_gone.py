"""The database of two hubs goes away and comes back: they say so meanwhile, and go on by themselves."""

from pathlib import Path

from greenroom.testing.hub_process import HubProcess, eventually
from greenroom.testing.postgres import postgres_server
from tests.workflows.conformance import Crashing


def test_hubs_whose_database_was_gone_finish_the_workflows_that_were_under_way(tmp_path: Path) -> None:
    steps = [
        {"id": "wait", "wait": {"seconds": 3}},
        {"id": "each", "set": {"n": "index"}, "for_each": {"items": [0] * 30}, "dependencies": ["wait"]},
    ]
    at_once = {"name": "at once", "steps": [{"id": "each", "set": {"n": "index"}, "for_each": {"items": [0] * 30}}]}
    with postgres_server() as server:
        env = {"GREENROOM_DATABASE": server.new_database()}
        with HubProcess(tmp_path / "a", env) as a, HubProcess(tmp_path / "b", env) as b:
            runs = [Crashing(a).start({"name": "later", "steps": steps}, "1"), Crashing(b).start(at_once, "2")]
            server.kill()
            for hub in (a, b):
                with Crashing(hub).client() as client:
                    eventually(lambda client=client: client.get("/api/threads").status_code == 503, 30)
            server.start()
            for hub, run_id in zip((b, a), runs, strict=True):
                assert run_id is not None
                with Crashing(hub).client() as client:
                    eventually(lambda client=client: client.get("/api/threads").status_code == 200, 30)
                ended = Crashing(hub).end(run_id)
                assert (ended["status"], ended["output"]) == ("completed", {"each": [{"n": n} for n in range(30)]})
        for hub in (a, b):
            assert "Traceback" not in hub.stderr, hub.stderr
