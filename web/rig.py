"""A hub with rehearsal agents to look at: filled as the demonstration is, it stays until it is stopped.

Run it as `.venv/bin/python web/rig.py [folder]`; the last line it prints is JSON with url, code and token. With
`--shots FOLDER` it takes screenshots of every panel instead of staying.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from greenroom.cli.client import HubClient
from greenroom.demo.scene import fill_hub
from greenroom.testing.hub_process import HubProcess

_ENDS = {signal.SIGINT, signal.SIGTERM}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", nargs="?", type=Path)
    words.add_argument("--shots", type=Path)
    given = words.parse_args()
    folder: Path = given.folder or Path(tempfile.mkdtemp(prefix="greenroom-rig-"))
    folder.mkdir(parents=True, exist_ok=True)
    with HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"}) as hub:
        try:
            fill_hub(HubClient(hub.url, hub.token), lambda what: print(what, file=sys.stderr, flush=True))
            told = json.dumps({"url": hub.url, "code": hub.login_code, "token": hub.token, "folder": str(folder)})
            if given.shots is not None:
                subprocess.run(["node", Path(__file__).parent / "shots.mjs", told, given.shots], check=True)
                return
            signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)  # not before: the hub would inherit it
            print(told, flush=True)
            signal.sigwait(_ENDS)
        finally:
            end_node(hub.data)


def end_node(data: Path) -> None:
    """End the node that the hub has started beside itself; it would outlive the hub."""
    lock = data / "node" / "lock"
    if lock.exists() and (pid := lock.read_text().strip()):
        os.kill(int(pid), signal.SIGTERM)


if __name__ == "__main__":
    main()
