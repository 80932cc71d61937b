"""The page's terminal while packets are dropped without a word, on the way to the browser and to the node."""

import shlex
from pathlib import Path

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program
from tests.cables import DATABASE_IP, Cable, laid_cables
from tests.conftest import checked
from tests.far_node import FarNode
from tests.page.browser_journey import need_page, travel
from tests.stage import Stage


def cut_of(cable: Cable, says: str, after: str) -> dict[str, object]:
    return {"pull": cable.pulling, "plug": cable.plugging_in, "says": says, "after": after}


def browser_at(cable: Cable, folder: Path) -> Path:
    """A browser on the machine at the end of a cable."""
    program = folder / "browser"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([*cable.prefix, str(need_program("chromium"))])} "$@"\n')
    program.chmod(0o755)
    return program


def test_the_pages_terminal_says_that_it_is_cut_and_types_nothing_late(tmp_path: Path) -> None:
    need_page()
    env = {"GREENROOM_ALLOW_PLAINTEXT": "1"}
    with laid_cables(2) as (to_node, to_browser):
        for hub in checked(HubProcess(tmp_path / "data", env, ["--host", DATABASE_IP])):
            with Stage(hub) as stage:
                node = FarNode(stage, tmp_path, "far", "--insecure", prefix=to_node.prefix).start(hub.url)
                try:
                    node.wait_for("connected")
                    profile = {"driver": "pty", "command": ["cat"], "node": "far", "options": {"prompt": "none"}}
                    assert stage.api.put("/api/profiles/far-cat", json=profile).status_code == 200
                    cuts = [
                        cut_of(to_browser, "The connection to the hub is cut", "again"),
                        cut_of(to_node, "The agent's node is not connected", "once more"),
                    ]
                    journey = "a_terminal_whose_packets_are_dropped_takes_no_keys"
                    travel(hub, journey, browser=browser_at(to_browser, tmp_path), profile="far-cat", cuts=cuts)
                finally:
                    node.stop()
