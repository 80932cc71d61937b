"""A hub with a node for journeys in a real browser, and the way to run one of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from greenroom.doors.page import load_build
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program, skip_or_fail
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT

JOURNEYS = Path(__file__).parent / "journeys"
QUIET = Path(__file__).parent / "quiet_chromium.py"
MODULES = ROOT / "web" / "node_modules"
NOTEBOOK = str(ROOT / "tests/rules/policy/notebook_server.py")
"""An MCP server for agents to call through the hub."""


def need_page() -> None:
    """Skip where the page was not built, or there is no browser to look at it."""
    if not load_build().is_there or not MODULES.is_dir():
        skip_or_fail("the page is not built (see `make page`)")


def travel(hub: HubProcess, name: str, *, browser: Path | None = None, display: str = "", **more: object) -> None:
    """Run a journey: it fails when a step fails, or when the page complains of anything in its console."""
    told: dict[str, object] = {
        "url": hub.url,
        "token": hub.token,
        "data": str(hub.data),
        "python": sys.executable,
        "notebook": NOTEBOOK,
    }
    told |= {"wait_ms": int(WAIT_S * 1000), **more}
    node = need_program("node")
    done = subprocess.run(
        [node, JOURNEYS / f"{name}.mjs", json.dumps(told)],
        env={
            "PATH": _path(),
            "CHROMIUM": str(browser or QUIET),
            "REAL_CHROMIUM": str(need_program("chromium")),
            "HOME": str(hub.data.parent),
            "DISPLAY": display,
        },
        capture_output=True,
        text=True,
        timeout=4 * WAIT_S,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def _path() -> str:
    """Where node is, and the Python that starts the browser."""
    return f"{Path(shutil.which('node') or '/usr/bin/node').parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
