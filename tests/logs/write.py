"""Writes a log down for later versions: `python -m tests.logs.write FILE` plays a story to a hub and keeps its log."""

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import httpx

from greenroom.log.chain import GENESIS, hash_link
from greenroom.log.data_directory import FILES
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.pictures import png

WORKFLOW = """
name: release
steps:
  - { id: notes, profile: rehearsal, prompt: "SAY two mended, one new" }
  - { id: leave, dependencies: [notes], level: { kind: confirmed, question: "Publish {{ steps.notes.output }}?" } }
  - { id: tell, dependencies: [leave], set: { words: steps.notes.output } }
output: steps.tell.output
"""
_TRIES = 600
PLACE = "/home/you"
EVENTS = (
    "SELECT seq, at, by, type, v, CAST(data AS TEXT), hex(hash) FROM events LEFT JOIN chain USING (seq) ORDER BY seq"
)


class Story:
    """What happens on the hub; all of it goes over REST."""

    def __init__(self, api: httpx.Client) -> None:
        self._api = api

    def call(self, method: str, path: str, body: Any = None, token: str | None = None, **more: Any) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = self._api.request(method, path, json=body, headers=headers, **more)
        assert answer.is_success, (method, path, answer.text)
        return answer.json()

    def agent(self, ide: str, **fields: Any) -> tuple[str, str]:
        said = self.call("POST", "/api/agents/register", {"ide": ide, "model": "M", **fields})
        return said["agent_id"], said["token"]

    def tell(self) -> None:
        _, ada_token = self.agent("Ada", display_name="Countess", capabilities=["sums"])
        bob, bob_token = self.agent("Bob", description="asks a lot")
        template = {"id": "review", "name": "Review", "system_prompt": "Be kind."}
        self.call("POST", "/api/templates", template)
        thread = self.call("POST", "/api/threads", {"topic": "engines", "template": "review"}, ada_token)["id"]
        messages = f"/api/threads/{thread}/messages"
        first = self.call("POST", messages, {"content": "What does it weave? 编织什么", "mentions": [bob]}, ada_token)
        self.call("POST", messages, {"content": "Patterns.", "reply_to_msg_id": first["id"]}, bob_token)
        self.call("POST", messages, {"content": "A person looks in.", "priority": "urgent"})
        self.call("POST", messages, {"content": "long " * 100}, bob_token)
        self.call("PUT", f"/api/messages/{first['id']}", {"content": "What does the engine weave?"}, ada_token)
        self.call("POST", f"/api/messages/{first['id']}/reactions", {"reaction": "👍"}, bob_token)
        self.call("POST", f"/api/agents/{bob}/mail", {"content": "for you alone"}, ada_token)
        self.call("POST", "/api/upload/image", files={"file": ("dot.png", png(), "image/png")})
        closed = self.call("POST", "/api/threads", {"topic": "settled"}, bob_token)["id"]
        self.call("POST", f"/api/threads/{closed}/close", {"summary": "done"})
        guest = self.call("POST", "/api/credentials", {"kind": "viewer", "name": "guest"})
        self.call("DELETE", f"/api/credentials/{guest['id']}")
        self.call("POST", "/api/agents/unregister", {"agent_id": bob, "token": bob_token})

    def tell_of_work(self) -> None:
        """Agents at work, what they ask, rules, and workflows: one that is done, one that waits for a person."""
        self.call("PUT", "/api/profiles/scribe", {"driver": "rehearsal", "description": "writes things down"})
        self.call("PUT", "/api/policy/rules/no-deploys", {"rule": {"decision": "deny", "commands": ["make deploy"]}})
        self.run("THINK hm\nSAY hello\nUSAGE 100 20", keep_as="writer")
        self.run("SAY again", agent="writer")
        self.run("SPAWN rehearsal SAY below", profile="scribe")
        self.run("SHELL make deploy")
        refused = self.start("SHELL make")
        self.answer({"run_id": refused}, {"verdict": "deny", "text": "not now"})
        self.end(refused)
        approved = self.start("SHELL echo done > note.txt")
        self.answer({"run_id": approved}, {"verdict": "approve", "scope": "run"})
        self.end(approved)
        asked = self.start("ASK Which port?\nSAY {{answer}}")
        self.answer({"run_id": asked}, {"verdict": "answer", "text": "8080"})
        self.end(asked)
        long = self.start("SLEEP 600")
        self.call("POST", f"/api/runs/{long}/cancel", {"reason": "enough"})
        self.end(long)
        done = self.call("POST", "/api/workflow-runs", {"text": WORKFLOW})["id"]
        self.answer({"workflow_run_id": done}, {"verdict": "approve"})
        self.until(lambda: self.call("GET", f"/api/workflow-runs/{done}")["run"]["status"] == "completed")
        self.call("POST", "/api/workflow-runs", {"workflow": "release"})
        self.until(lambda: self.call("GET", "/api/asks")["asks"])

    def start(self, prompt: str, profile: str = "rehearsal", **fields: Any) -> str:
        return str(self.call("POST", "/api/runs", {"profile": profile, "prompt": prompt, **fields})["id"])

    def end(self, run_id: str) -> None:
        self.until(lambda: "ended_at" in self.call("GET", f"/api/runs/{run_id}/wait", params={"for_s": 30}))

    def run(self, prompt: str, **fields: Any) -> None:
        self.end(self.start(prompt, **fields))

    def answer(self, whose: dict[str, str], answer: dict[str, str]) -> None:
        """Answer what is asked there, once it is."""
        asks = self.until(lambda: self.call("GET", "/api/asks", params={**whose, "for_s": 5})["asks"])
        self.call("POST", f"/api/asks/{asks[0]['id']}/answer", {"digest": asks[0]["digest"], **answer})

    def until(self, true: Callable[[], Any]) -> Any:
        for _ in range(_TRIES):
            if found := true():
                return found
            time.sleep(0.1)
        raise AssertionError("it did not come about")


def read_log(data: Path) -> list[dict[str, Any]]:
    """The events, and after them the files that they name."""
    names = ("seq", "at", "by", "type", "v", "data", "chain")
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        lines = [dict(zip(names, row, strict=True)) for row in connection.execute(EVENTS)]
    files = sorted(path for path in (data / FILES).glob("*/*") if path.is_file())
    return lines + [{"file": path.name, "bytes": b64encode(path.read_bytes()).decode()} for path in files]


def without_place(lines: list[dict[str, Any]], folder: str) -> list[dict[str, Any]]:
    """The log as if it had been written at nobody's place; the chain is made anew over what was changed."""
    before = GENESIS
    for line in lines:
        if "seq" not in line:
            continue
        line["data"] = line["data"].replace(folder, PLACE)
        if line["chain"]:
            raw = (line["seq"], line["at"], line["by"], line["type"], line["v"], line["data"].encode())
            before = hash_link(before, raw)
            line["chain"] = before.hex().upper()
    return lines


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        settings = {"GREENROOM_INLINE_CONTENT_CHARS": "200", "GREENROOM_LOCAL_NODE": "1"}
        with HubProcess(data, settings) as hub:
            headers = {"Authorization": f"Bearer {hub.token}"}
            with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as api:
                story = Story(api)
                story.tell()
                story.tell_of_work()
            hub.stop()
            os.kill(int((data / "node" / "lock").read_text()), signal.SIGTERM)
            lines = [json.dumps(line, ensure_ascii=False) for line in without_place(read_log(data), folder)]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
