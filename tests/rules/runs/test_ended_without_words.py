"""A run that fails says why, also where its runtime ends the turn without a word."""

from pathlib import Path

import msgspec
import pytest
from websockets.sync.client import connect

from greenroom.testing.timeouts import WAIT_S
from tests.far_node import FarNode
from tests.link.test_links import hello
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
ENDS = [
    ("limit", "failed", "the agent's runtime reached a limit of its own"),
    ("refused", "failed", "the model refused to go on"),
    ("failed", "failed", "the agent's runtime failed"),
    ("cancelled", "cancelled", None),
]


def test_a_turn_that_fails_without_words_leaves_an_error_on_its_run(stage: Stage, tmp_path: Path) -> None:
    far = FarNode(stage, tmp_path, "wordless")
    url = stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as link:
        link.send(hello(drivers={"rehearsal": "1"}, capacity=100))
        link.recv(timeout=WAIT_S)
        for number, (reason, status, error) in enumerate(ENDS, 1):
            run_id = stage.start("SAY x", node="wordless")
            while msgspec.json.decode(link.recv(timeout=WAIT_S)).get("run") != run_id:
                pass
            heard = {"type": "turn_ended", "reason": reason}
            item = {"op": "item", "number": number, "run": run_id, "at": 1, "heard": heard}
            link.send(msgspec.json.encode(item).decode())
            ended = stage.end(run_id)
            assert (ended["status"], ended.get("error")) == (status, error)
