"""A hub with rehearsal agents to look at: starts one, fills it, prints how to get in, and stays until it is stopped.

Run it as `.venv/bin/python web/rig.py [folder]`; the last line it prints is JSON with url, code and token. With
`--shots FOLDER` it takes screenshots of every panel instead of staying.
"""

import argparse
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import httpx

from greenroom.testing.hub_process import HubProcess

ANSWER = """Here is what I found:

| file | lines | verdict |
|---|---:|---|
| `log/log.py` | 161 | clear |
| `doors/guard.py` | 268 | long, but one idea |

```python
def need_room(rows: Rows, by: Principal) -> Room:
    room = rows.get(ROOMS, by.room)
    if room is None:
        raise Refused("no_room", "Log in with a room's token.")
    return room
```

1. The guard checks **host and origin** before the body is read.
2. Errors say *who was wrong*.

> Nothing here needs a rewrite.
"""


_ENDS = {signal.SIGINT, signal.SIGTERM}


class Filler:
    """Puts a day's work into a hub, over REST."""

    def __init__(self, hub: HubProcess) -> None:
        headers = {"Authorization": f"Bearer {hub.token}"}
        self.api = httpx.Client(base_url=hub.url, headers=headers, timeout=60)

    def post(self, path: str, **body: Any) -> Any:
        answer = self.api.post(path, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def profile(self, name: str, display: str, about: str, **fields: Any) -> None:
        body = {"driver": "rehearsal", "display_name": display, "description": about, **fields}
        self.api.put(f"/api/profiles/{name}", json=body).raise_for_status()

    def run(self, profile: str, prompt: str, **fields: Any) -> str:
        return str(self.post("/api/runs", profile=profile, prompt=prompt, **fields)["id"])

    def fill(self) -> None:
        self.profile("reviewer", "Reviewer", "Reads changes and says what is wrong with them", model="opus")
        self.profile("builder", "Builder", "Writes code in a worktree of its own", model="gpt-5", capabilities=["code"])
        self.profile("scout", "Scout", "Looks things up, changes nothing", approvals="on_risk")
        thread = self.post("/api/threads", topic="Move the guard's limits into settings")["id"]
        self.post(
            f"/api/threads/{thread}/messages", content="Who can look at `doors/guard.py`? The limits are constants."
        )
        first = self.run("reviewer", f"THINK The limits are at the top.\nPOST {thread} {_line(ANSWER)}\nUSAGE 5200 830")
        self.api.get(f"/api/runs/{first}/wait", params={"for_s": 30})
        self.post(f"/api/threads/{thread}/messages", content="Good. @builder please do it, and keep the defaults.")
        self.run("builder", "SAY I move the limits.\nSHELL make test\nSAY done", thread_id=thread)
        self.run("builder", "THINK A new file is needed.\nWRITE src/limits.py MAX_HEADERS = 100\\nMAX_BYTES = 32_768\n")
        self.run("scout", "SAY Reading the changelog of starlette 1.3\nSLEEP 900")
        self.run(
            "scout",
            "SAY Three agents look at the sync tests\nSPAWN reviewer SAY All fine: nothing sleeps\\nUSAGE 900 120\n"
            "SPAWN builder SAY Rewriting test_sync_floods\\nSLEEP 900\nSLEEP 900",
        )
        self.run("reviewer", "ASK Shall the old names of the settings stay for one more release?")
        self.post(
            "/api/asks",
            kind="question",
            title="Where shall the release notes go?",
            text="Both are **possible**. The changelog is read by *fewer people*, but it is where others look.",
            questions=[
                {
                    "question": "Which place?",
                    "header": "Place",
                    "options": [
                        {"label": "CHANGELOG.md", "description": "One file, newest first"},
                        {"label": "GitHub release", "description": "With the tag, and a link from the README"},
                    ],
                }
            ],
        )
        self.post(
            "/api/asks",
            kind="report",
            title="The migration is finished",
            text="All **42 tables** were moved. Two indexes were rebuilt:\n\n- `runs_by_seq`\n- `items_by_run`",
        )
        self.run("builder", "SHELL rm -rf build/ && git push --force origin main")
        self.run("builder", "FAIL cannot find Cargo.toml in this folder")
        self.api.get(f"/api/runs/{self.run('scout', 'SAY ok')}/wait", params={"for_s": 30})
        for topic in ("Release 0.2: what is left", "Flaky test in tests/runs", "Ideas for the workflow editor"):
            other = self.post("/api/threads", topic=topic)["id"]
            self.post(f"/api/threads/{other}/messages", content=f"Let us collect what we know about: {topic}.")


def _line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", nargs="?", type=Path)
    words.add_argument("--shots", type=Path)
    given = words.parse_args()
    folder: Path = given.folder or Path(tempfile.mkdtemp(prefix="greenroom-rig-"))
    folder.mkdir(parents=True, exist_ok=True)
    with HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"}) as hub:
        try:
            Filler(hub).fill()
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
