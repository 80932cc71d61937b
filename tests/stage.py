"""A hub with a node, as tests of runs use it."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

_LOOK_S = 20.0
ENDED = ("completed", "failed", "cancelled", "interrupted")


class Stage:
    """Starts runs and waits for them, over REST."""

    def __init__(self, hub: HubProcess) -> None:
        self.hub = hub
        self.api = self._client()

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.hub.token}"}
        return httpx.Client(base_url=self.hub.url, headers=headers, timeout=WAIT_S)

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()

    def has_node(self) -> bool:
        """Whether a node is connected, so that the hub knows which drivers there are."""
        return any(node.get("state") == "connected" for node in self.api.get("/api/nodes").json())

    def start(self, prompt: str, profile: str = "rehearsal", **fields: Any) -> str:
        answer = self.api.post("/api/runs", json={"profile": profile, "prompt": prompt, **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def run(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/api/runs/{run_id}").json()
        return found

    def end(self, run_id: str) -> dict[str, Any]:
        """The run, once it is over."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.api.get(f"/api/runs/{run_id}/wait", params={"for_s": _LOOK_S}).json()
            return found if found["status"] in ENDED else None

        ended: dict[str, Any] = self.until(look, f"{run_id} to be over: {self.run(run_id)}")
        return ended

    def done(self, prompt: str, **fields: Any) -> dict[str, Any]:
        """Start a run and wait for its end."""
        return self.end(self.start(prompt, **fields))

    def items(self, run_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.get(f"/api/runs/{run_id}/items", params={"limit": 2000}).json()
        return found

    def profile(self, name: str, **fields: Any) -> None:
        """Make a rehearsal profile under another name."""
        answer = self.api.put(f"/api/profiles/{name}", json={"driver": "rehearsal", **fields})
        assert answer.status_code == 200, answer.text

    def until(self, true: Callable[[], Any], what: str) -> Any:
        """What a condition gives once it holds."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            found = true()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"in vain waited for: {what}")

    def asked(self) -> dict[str, Any]:
        """The one thing that waits for a person."""
        found = self.until(lambda: self.api.get("/api/asks").json()["asks"], "something to be asked")
        return dict(found[0])

    def tidy(self) -> None:
        """Leave nothing to who comes next that waits or is at work."""
        for ask in self.api.get("/api/asks").json()["asks"]:
            self.decide(ask["id"], "deny")
        for run in self.api.get("/api/runs", params={"limit": 200}).json():
            if run["status"] not in ENDED:
                self.api.post(f"/api/runs/{run['id']}/cancel", json={})
                self.end(run["id"])

    def decide(self, ask_id: str, verdict: str, **fields: Any) -> httpx.Response:
        """Answer an ask as somebody who has looked at it."""
        fields.setdefault("digest", self.api.get(f"/api/asks/{ask_id}").json().get("digest"))
        return self.api.post(f"/api/asks/{ask_id}/answer", json={"verdict": verdict, **fields})
