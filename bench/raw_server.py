"""The raw limit of a durable post: a lean ASGI handler and a group-committing SQLite writer.

It does what every bus must, and nothing else: messages have an id, a time and one seq for all; they are kept by thread;
each is acknowledged once it is on disk; and who waits in the thread is woken. No credential, no rules, no search.
"""

import argparse
import asyncio
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from time import time_ns
from typing import Any
from uuid import uuid4

import apsw
import msgspec
import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Post(msgspec.Struct):
    author: str
    content: str


class Message(msgspec.Struct):
    id: str
    thread_id: str
    author: str
    content: str
    created_at: int
    seq: int = 0


class GroupWriter:
    """Writes whatever has gathered since the last commit in one transaction, then answers all of it."""

    def __init__(self, path: Path, wake: Callable[[list[Message]], None]) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
        self._db.execute(
            "CREATE TABLE messages (seq INTEGER PRIMARY KEY, id TEXT, thread_id TEXT, author TEXT, content TEXT,"
            " created_at INTEGER); CREATE INDEX by_thread ON messages (thread_id, seq)"
        )
        self._wake_waiters = wake
        self._pending: list[tuple[Message, asyncio.Future[None]]] = []
        self._wake = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    async def write(self, message: Message) -> None:
        """Give the message its seq; returns once it is on disk."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._wake:
            self._pending.append((message, answer))
            self._wake.notify()
        await answer

    def count(self) -> tuple[int, int]:
        stored, distinct = next(iter(self._db.execute("SELECT count(*), count(DISTINCT content) FROM messages")))
        return stored, distinct

    def _run(self) -> None:
        seq = 0
        while True:
            with self._wake:
                while not self._pending:
                    self._wake.wait()
                group, self._pending = self._pending, []
            rows = []
            for message, _ in group:
                seq = message.seq = seq + 1
                rows.append(msgspec.structs.astuple(message))
            with self._db:
                self._db.executemany(
                    "INSERT INTO messages (id, thread_id, author, content, created_at, seq) VALUES (?, ?, ?, ?, ?, ?)",
                    rows,
                )
            group[0][1].get_loop().call_soon_threadsafe(self._answer, group)

    def _answer(self, group: list[tuple[Message, asyncio.Future[None]]]) -> None:
        self._wake_waiters([message for message, _ in group])
        for _, answer in group:
            if not answer.done():
                answer.set_result(None)


class App:
    """POST posts into the thread that the path names; GET /wait waits for the next message in one."""

    def __init__(self, path: Path) -> None:
        self._writer = GroupWriter(path, self._wake)
        self._decode = msgspec.json.Decoder(Post).decode
        self._waiters: dict[str, list[asyncio.Future[Message]]] = {}

    def _wake(self, messages: list[Message]) -> None:
        for message in messages:
            for waiter in self._waiters.pop(message.thread_id, ()):
                if not waiter.done():
                    waiter.set_result(message)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] == "POST":
            await self._post(path.split("/")[3], receive, send)
        elif path.startswith("/wait/"):
            waiter: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            self._waiters.setdefault(path[6:], []).append(waiter)
            await respond(send, 200, await waiter)
        else:
            stored, distinct = self._writer.count()
            await respond(send, 200, {"stored": stored, "distinct": distinct})

    async def _post(self, thread_id: str, receive: Receive, send: Send) -> None:
        body = b""
        more = True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        post = self._decode(body)
        message = Message(uuid4().hex, thread_id, post.author, post.content, time_ns() // 1_000_000)
        await self._writer.write(message)
        await respond(send, 201, message)


async def respond(send: Send, status: int, value: Any) -> None:
    body = msgspec.json.encode(value)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    app = App(options.data / "raw.db")
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=options.port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        proxy_headers=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
