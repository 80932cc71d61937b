"""Running a finished workflow run again, with its inputs or with some of them changed."""

from pathlib import Path
from typing import Any

import httpx

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom

PLAN = """\
name: greet
inputs:
  who: { type: string, required: true }
  times: { type: integer, default: 1 }
steps:
  - id: greeted
    set: { words: "inputs.who" }
"""


def test_a_finished_run_is_run_again_with_its_inputs_from_the_command_line(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    def run(*args: str) -> dict[str, Any]:
        run_id = done(hub.data, "dag", "run", *args, "--wait", "--json").json["run_id"]
        shown: dict[str, Any] = api.get(f"/api/workflow-runs/{run_id}").json()
        return shown

    file = tmp_path / "greet.yaml"
    file.write_text(PLAN)
    first = run(str(file), "--input", "who=Ann", "--input", "times=3")
    again = run("--again", first["run"]["id"])
    assert again["run"]["id"] != first["run"]["id"]
    assert (again["facts"]["inputs"], again["run"]["directory"]) == ({"who": "Ann", "times": 3}, str(tmp_path))
    changed = run("--again", again["run"]["id"], "--input", "who=Bob")
    assert changed["facts"]["inputs"] == {"who": "Bob", "times": 3}
    file.write_text(PLAN.replace("  times: { type: integer, default: 1 }\n", ""))
    run(str(file), "--input", "who=Eve")
    assert run("--again", first["run"]["id"])["facts"]["inputs"] == {"who": "Ann"}
    for args in ((), ("greet", "--again", first["run"]["id"])):
        assert "Say what to run" in greenroom(hub.data, "dag", "run", *args).err
