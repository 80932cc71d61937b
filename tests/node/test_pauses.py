"""A node reports what kept its event loop from everything else."""

import os
import time
from pathlib import Path

from tests.far_node import FarNode
from tests.stage import Stage

PAUSE_S = 0.5
NOWHERE = "http://127.0.0.1:1"


def test_a_node_that_waits_for_a_file_says_for_how_long_and_where(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "waits")
    token, pipe = node.token_file.read_text(), tmp_path / "pipe"
    os.mkfifo(pipe)
    node.start(NOWHERE)
    try:
        stage.until(lambda: "cannot be reached" in node.log, "the node to dial")
        pipe.replace(node.token_file)
        with node.token_file.open("w") as slow:  # open as soon as the node dials again, and reads
            time.sleep(PAUSE_S)  # the fault itself
            node.token_file.unlink()
            node.token_file.write_text(token)
            slow.write(token)
        stage.until(lambda: "The event loop" in node.log, "the node to say it")
        assert "hub_addresses.py" in node.log
    finally:
        node.stop()
