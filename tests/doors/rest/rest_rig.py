"""People and agents that call the REST door as the bus's clients do."""

import itertools
import ssl
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

RW = {"expires_at": "9999-12-31T23:59:59+00:00", "max_new_messages": 0}
_numbers = itertools.count(1)
_TLS = ssl.create_default_context()  # made once: it is what a client costs


@dataclass(frozen=True)
class Agent:
    """A registered agent and its own line to the hub."""

    id: str
    token: str
    name: str
    http: httpx.Client

    def post(self, thread_id: str, content: str, **fields: Any) -> httpx.Response:
        return self.http.post(
            f"/api/threads/{thread_id}/messages", json={"author": self.id, "content": content, **fields}
        )

    def context(self, thread_id: str) -> tuple[int, str]:
        said = self.http.post(f"/api/threads/{thread_id}/sync-context", json={"agent_id": self.id}).json()
        return said["current_seq"], said["reply_token"]


class Rest:
    """One hub, and whoever calls it."""

    def __init__(self, hub: HubProcess) -> None:
        self.hub = hub
        self._open = ExitStack()
        self.operator = self.client({"Authorization": f"Bearer {hub.token}"})

    def client(self, headers: dict[str, str] | None = None) -> httpx.Client:
        return self._open.enter_context(
            httpx.Client(base_url=self.hub.url, headers=headers, timeout=WAIT_S, verify=_TLS)
        )

    def agent(self, ide: str = "R", **fields: Any) -> Agent:
        said = self.operator.post("/api/agents/register", json={"ide": ide, "model": "M", **fields}).json()
        http = self.client({"X-Agent-Token": said["token"]})
        return Agent(said["agent_id"], said["token"], said["name"], http)

    def bearer(self, **fields: Any) -> httpx.Client:
        """Somebody with a credential of its own."""
        made = self.operator.post("/api/credentials", json={"name": "somebody", **fields})
        assert made.status_code == 201, made.text
        return self.client({"Authorization": f"Bearer {made.json()['token']}"})

    def thread(self, creator: Agent | None = None, **fields: Any) -> str:
        body = {"topic": new_topic(), **fields}
        if creator is not None:
            body["creator_agent_id"] = creator.id
        made = (creator.http if creator else self.operator).post("/api/threads", json=body)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def __enter__(self) -> "Rest":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()


def new_topic() -> str:
    return f"topic {next(_numbers)}"


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """The status and the code of a refusal, which also has a detail."""
    body = answer.json()
    assert body["detail"], body
    return answer.status_code, body["code"]
