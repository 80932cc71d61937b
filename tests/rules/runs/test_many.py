"""Many agents, one after the other and all at once."""

import os
from pathlib import Path

import psutil
import pytest

from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.node.test_hygiene import marked, node_pid
from tests.stage import Stage

SHORT = int(os.environ.get("SHORT_AGENTS", "60"))


def test_thirty_agents_start_at_once(stage: Stage) -> None:
    runs = [stage.start(f"SAY {number}\nSLEEP 1") for number in range(30)]
    assert [stage.end(run_id)["output"] for run_id in runs] == [str(number) for number in range(30)]
    stage.until(lambda: not marked(stage), "all processes to be gone")


@pytest.mark.timeout(TEST_LIMIT_S + SHORT)
def test_agents_that_end_at_once_leave_no_zombie_and_no_open_file(stage: Stage, tmp_path: Path) -> None:
    fields = {"driver": "acp", "command": ["/bin/sh", "-c", "exit 3"], "start_timeout_s": 20}
    assert stage.api.put("/api/profiles/short", json=fields).status_code == 200
    assert stage.done("SAY x", profile="short")["status"] == "failed"
    node = psutil.Process(node_pid(stage))
    stage.until(lambda: not node.children(), "the first to be gone")
    before = node.num_fds()
    for _ in range(0, SHORT, 20):
        runs = [stage.start("SAY x", profile="short") for _ in range(20)]
        assert {stage.end(run_id)["status"] for run_id in runs} == {"failed"}
    stage.until(lambda: not node.children(), "no zombie to be left")
    stage.until(lambda: node.num_fds() <= before + 5, "all files to be closed")
