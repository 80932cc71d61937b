"""Agents for tests over REST: posters that retry, and listeners that resume by their cursor."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from greenroom.testing.raw_http import KeepAliveConnection, RawResponse
from greenroom.testing.timeouts import WAIT_S

GONE = (OSError, EOFError, asyncio.IncompleteReadError)
"""What a client meets when the hub dies."""
_RETRY_S = 0.1


class UnexpectedStatus(Exception):
    """The hub said no."""

    def __init__(self, answer: RawResponse) -> None:
        super().__init__(f"{answer.status} {answer.body[:500].decode(errors='replace')}")
        self.answer = answer


def need_success(answer: RawResponse, *statuses: int) -> Any:
    """The JSON of an answer with one of these statuses (200 and 201 if none is named)."""
    if answer.status not in (statuses or (200, 201)):
        raise UnexpectedStatus(answer)
    return answer.json


async def register_agent(url: str, token: str, name: str) -> tuple[str, str]:
    """A new agent: its id and its token."""
    async with KeepAliveConnection(url, token) as line:
        made = need_success(await line.call("POST", "/api/agents/register", {"ide": name, "model": "test"}))
    return made["agent_id"], made["token"]


async def open_thread(url: str, token: str, topic: str = "talk") -> str:
    """A new thread of the operator."""
    async with KeepAliveConnection(url, token) as line:
        return str(need_success(await line.call("POST", "/api/threads", {"topic": topic}))["id"])


async def read_all_messages(url: str, token: str, thread_id: str) -> list[dict[str, Any]]:
    """Every message of a thread."""
    out: list[dict[str, Any]] = []
    async with KeepAliveConnection(url, token) as line:
        while True:
            after = out[-1]["seq"] if out else 0
            page = need_success(
                await line.call("GET", f"/api/threads/{thread_id}/messages?after_seq={after}&limit=1000")
            )
            if not page:
                return out
            out += page


class RestPoster:
    """Posts one message after the other; each is tried with the same key until it is acknowledged."""

    def __init__(self, url: str, token: str, thread_id: str, name: str) -> None:
        self._line = KeepAliveConnection(url, token)
        self._path = f"/api/threads/{thread_id}/messages"
        self._name = name
        self.acknowledged: dict[str, tuple[str, int]] = {}
        """Content to id and seq."""
        self.tries = 0

    async def run(self, go_on: Callable[[], bool]) -> None:
        """Post for as long as `go_on` says so."""
        number = 0
        while go_on():
            number += 1
            await self.post(f"{self._name} says {number}")
        self.close()

    def close(self) -> None:
        self._line.close()

    async def post(self, content: str) -> None:
        """Post until it is acknowledged."""
        while True:
            self.tries += 1
            try:
                answer = await self._line.call("POST", self._path, {"content": content}, _build_key_header(content))
                if answer.status not in (503, 507):
                    posted = need_success(answer)
                    self.acknowledged[content] = (posted["id"], posted["seq"])
                    return
            except GONE:
                pass
            await asyncio.sleep(_RETRY_S)


def _build_key_header(content: str) -> dict[str, str]:
    return {"Idempotency-Key": content.replace(" ", "-")}


class RestListener:
    """Waits for messages, one wait after the other, and continues from its cursor when the hub was away.

    With `durable` it has no cursor of its own and continues where the hub knows that it was.
    """

    def __init__(self, url: str, token: str, thread_id: str, *, durable: bool = False) -> None:
        self._line = KeepAliveConnection(url, token)
        self._path = f"/api/threads/{thread_id}/wait"
        self.durable = durable
        self.heard: list[dict[str, Any]] = []

    async def run(self, go_on: Callable[[], bool]) -> None:
        """Listen for as long as `go_on` says so; a response in progress is still read."""
        while go_on():
            try:
                await self.wait(1000)
            except GONE:
                await asyncio.sleep(_RETRY_S)

    async def wait(self, timeout_ms: int) -> None:
        """One wait."""
        after = "" if self.durable else f"&after_seq={self.heard[-1]['seq'] if self.heard else 0}"
        answer = await self._line.call("GET", f"{self._path}?timeout_ms={timeout_ms}{after}")
        if answer.status == 503:
            await asyncio.sleep(_RETRY_S)
            return
        self.heard += need_success(answer)["messages"]

    def close(self) -> None:
        self._line.close()

    async def catch_up(self, last_id: str) -> None:
        """Listen until a message has arrived, then disconnect."""
        async with asyncio.timeout(WAIT_S):
            while not any(message["id"] == last_id for message in self.heard[-1000:]):
                with contextlib.suppress(*GONE):
                    await self.wait(1000)
        self.close()


async def wait_for_waiters(url: str, token: str, is_so: Callable[[int], bool]) -> None:
    """Return once the number of waits that are open is so."""
    count = -1
    async with KeepAliveConnection(url, token) as line:
        for _ in range(int(WAIT_S / 0.05)):
            count = need_success(await line.call("GET", "/api/metrics"))["waiters"]
            if is_so(count):
                return
            await asyncio.sleep(0.05)
    raise AssertionError(f"there are {count} waits")
