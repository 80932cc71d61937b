"""Writes a log down for later versions: `python -m tests.logs.write FILE` plays a story to a hub and keeps its log."""

import contextlib
import json
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import apsw
import httpx

from greenroom.log.directory import FILES
from greenroom.testing.hub_process import HubProcess
from tests.doors.pictures import png

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


def read_log(data: Path) -> list[dict[str, Any]]:
    """The events, and after them the files that they name."""
    names = ("seq", "at", "by", "type", "v", "data", "chain")
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        lines = [dict(zip(names, row, strict=True)) for row in connection.execute(EVENTS)]
    files = sorted(path for path in (data / FILES).glob("*/*") if path.is_file())
    return lines + [{"file": path.name, "bytes": b64encode(path.read_bytes()).decode()} for path in files]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with HubProcess(data, {"GREENROOM_INLINE_CONTENT_CHARS": "200"}) as hub:
            headers = {"Authorization": f"Bearer {hub.token}"}
            with httpx.Client(base_url=hub.url, headers=headers, timeout=60) as api:
                Story(api).tell()
            hub.stop()
            lines = [json.dumps(line, ensure_ascii=False) for line in read_log(data)]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
