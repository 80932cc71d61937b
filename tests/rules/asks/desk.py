"""People who answer and agents that ask, over REST."""

import base64
import itertools
from typing import Any

import httpx

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Agent, Rest

_numbers = itertools.count(1)


class Desk(Rest):
    """A hub with asks, and whoever is concerned with them."""

    def __init__(self, hub: HubProcess) -> None:
        super().__init__(hub)
        self.asking = self.agent("Asker")

    def ask(self, title: str = "", by: Agent | httpx.Client | None = None, **fields: Any) -> dict[str, Any]:
        """Raise an ask; an agent's unless somebody else is named."""
        client = by.http if isinstance(by, Agent) else by or self.asking.http
        made = client.post("/api/asks", json={"title": title or f"question {next(_numbers)}", **fields})
        assert made.status_code == 201, made.text
        return dict(made.json())

    def gate(self, **fields: Any) -> dict[str, Any]:
        """An ask of the operator that wants a yes or a no."""
        return self.ask(by=self.operator, kind="gate", **fields)

    def answer(self, ask_id: str, by: httpx.Client | None = None, **fields: Any) -> httpx.Response:
        return (by or self.operator).post(f"/api/asks/{ask_id}/answer", json={"verdict": "answer", **fields})

    def show(self, ask_id: str) -> dict[str, Any]:
        return dict(self.operator.get(f"/api/asks/{ask_id}").json())

    def waiting(self, by: httpx.Client | None = None, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (by or self.operator).get("/api/asks", params=query).json()["asks"]
        return found

    def after(self, ask_id: str, for_s: float = 20) -> dict[str, Any]:
        """The ask, once it is over."""
        over = self.operator.get(f"/api/asks/{ask_id}/wait", params={"for_s": for_s}).json()
        assert over["state"] != "open", over
        return dict(over)

    def room(self, name: str, *rights: str) -> httpx.Client:
        """A person of a room."""
        return self.bearer(kind="room", room=name, rights=list(rights) or ["answer"])


def picture(data: bytes = b"\x89PNG pixels") -> dict[str, str]:
    return {"type": "image", "mime": "image/png", "data": base64.b64encode(data).decode()}
