"""What `greenroom node --join` says to whoever has started it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.far_node import FarNode
from tests.rules.runs.chaos import ChaosProxy
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


@pytest.fixture
def calm_proxy(stage: Stage) -> Iterator[ChaosProxy]:
    proxy = ChaosProxy(stage.hub.port, seed=1)
    proxy.calm()
    yield proxy
    proxy.close()


def test_a_node_says_when_it_has_joined_is_cut_off_and_is_back(
    stage: Stage, calm_proxy: ChaosProxy, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{calm_proxy.port}"
    node = FarNode(stage, tmp_path, "desk-two").start(url)
    try:
        stage.until(lambda: f": joined: node 'desk-two' is connected to the hub at {url}" in node.log, "it to say so")
        calm_proxy.cut()
        stage.until(lambda: f"the connection to {url} is lost" in node.log, "it to say that it is cut off")
        stage.until(
            lambda: f"joined again: node 'desk-two' is connected to the hub at {url}" in node.log, "it to be back"
        )
        assert node.log.count("joined") == 2
    finally:
        node.stop()


@pytest.mark.parametrize(
    ("kind", "why"), [(None, "its token is not known there"), ("viewer", "its token is not a node's")]
)
def test_a_node_with_a_wrong_token_says_how_to_get_a_right_one(
    stage: Stage, tmp_path: Path, kind: str | None, why: str
) -> None:
    node = FarNode(stage, tmp_path, f"wrong-{kind}")
    made = stage.api.post("/api/credentials", json={"kind": kind, "name": "guest"}).json() if kind else {}
    node.token_file.write_text(made.get("token", "gr_node_nobodys"))
    node.start(stage.hub.url)
    try:
        stage.until(lambda: why in node.log, "it to say why")
        assert "make one by `greenroom node add NAME` on the hub's machine" in node.log
        assert "joined" not in node.log
    finally:
        node.stop()
