"""Many agents on one node whose soft limit of open files is too low for them.

Small by default. For the sizes that are promised: GREENROOM_TEST_AGENTS=500, with a soft limit of 1,024, or 1000.
"""

import os
from pathlib import Path

import psutil

from greenroom.open_files import count_files_for
from tests.far_node import FarNode
from tests.stage import Stage

AGENTS = int(os.environ.get("GREENROOM_TEST_AGENTS", "40"))
SOFT = 1024 if AGENTS >= 500 else 128
_PAGE = 200


def count_runs(stage: Stage, status: str) -> int:
    """How many runs have this status, over all pages."""
    count, before = 0, None
    while True:
        params = {"status": status, "limit": _PAGE} | ({} if before is None else {"before": before})
        page = stage.api.get("/api/runs", params=params).json()
        count += len(page)
        if len(page) < _PAGE:
            return count
        before = page[-1]["seq"]


def count_sleeping(node: psutil.Process) -> int:
    return sum(child.name() == "sleep" for child in node.children(recursive=True))


def test_a_node_raises_its_limit_of_open_files_and_holds_as_many_agents_as_it_says(
    stage: Stage, tmp_path: Path
) -> None:
    limits = f"--nofile={SOFT}:{count_files_for(AGENTS)}"
    node = FarNode(stage, tmp_path, "crowded", "--capacity", str(AGENTS), prefix=("prlimit", limits))
    node.start(stage.hub.url)
    try:
        node.wait_for("connected")
        command = ["sh", "-c", "exec sleep 86400", "{prompt}"]
        profile = {"driver": "command", "command": command, "node": "crowded", "timeout_s": 86_400}
        assert stage.api.put("/api/profiles/sleeper", json=profile).status_code == 200
        runs = [stage.start("sleep", profile="sleeper") for _ in range(AGENTS)]
        stage.until(lambda: count_runs(stage, "running") == AGENTS, "all agents to be at work")
        assert node.process is not None
        held = psutil.Process(node.process.pid)
        sleeping = count_sleeping(held)
        print(
            f"{sleeping} agents at work; the node has {held.num_fds()} files open, {held.memory_info().rss >> 20} MiB"
        )
        assert sleeping == AGENTS
        for run_id in runs:
            stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
        stage.until(lambda: count_runs(stage, "cancelled") == AGENTS, "all agents to be ended")
        stage.until(lambda: count_sleeping(held) == 0, "their processes to be gone")
        assert "Too many open files" not in node.log
    finally:
        node.stop()
