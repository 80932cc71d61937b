"""Hubs on one database go by its clock, and what is timed moves along when that is set."""

from pathlib import Path

from greenroom.testing.fake_clock import ClockFile
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import postgres_server
from tests.rules.workflows.conformance import Crashing

HOUR_S, DAY_S = 3600, 86_400


def test_spans_keep_their_length_when_the_clock_of_the_database_jumps(tmp_path: Path) -> None:
    steps = [
        {"id": "short", "wait": {"seconds": 8}},
        {"id": "long", "wait": {"seconds": 2 * HOUR_S}},
        {"id": "date", "wait": {"until": f"run.started_at + {12 * HOUR_S * 1000}"}},
    ]
    with postgres_server() as server:
        clock = ClockFile(server.folder)
        server.kill()
        server.start(clock.env)
        with HubProcess(tmp_path / "data", {"GREENROOM_DATABASE": server.create_database()}) as hub:
            crashing = Crashing(hub)
            run_id = crashing.start({"name": "waits", "steps": steps}, "waits")
            assert run_id is not None

            def stands(step: str, status: str) -> bool:
                return bool(crashing.steps(run_id or "")[step]["status"] == status)

            clock.set_s(DAY_S)
            wait_until(lambda: stands("date", "completed"))
            clock.set_s(-HOUR_S)
            wait_until(lambda: stands("short", "completed"))
            assert stands("long", "waiting")
        assert "Traceback" not in hub.stderr, hub.stderr
