"""The raw limit of a durable post: a bare ASGI handler and a group-committing SQLite writer, nothing else."""

import argparse
import asyncio
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import apsw
import msgspec
import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Post(msgspec.Struct):
    author: str
    content: str


class GroupWriter:
    """Writes whatever has gathered since the last commit in one transaction, then answers all of it."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE messages (seq INTEGER PRIMARY KEY, author TEXT, content TEXT)")
        self._pending: list[tuple[Post, asyncio.Future[int]]] = []
        self._wake = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    async def write(self, post: Post) -> int:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._wake:
            self._pending.append((post, answer))
            self._wake.notify()
        return await answer

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
            rows = [(seq + n, post.author, post.content) for n, (post, _) in enumerate(group, 1)]
            with self._db:
                self._db.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
            loop = group[0][1].get_loop()
            loop.call_soon_threadsafe(answer_all, [answer for _, answer in group], seq + 1)
            seq += len(group)


def answer_all(answers: list[asyncio.Future[int]], first_seq: int) -> None:
    for seq, answer in enumerate(answers, first_seq):
        if not answer.done():
            answer.set_result(seq)


class App:
    def __init__(self, writer: GroupWriter) -> None:
        self._writer = writer
        self._decode = msgspec.json.Decoder(Post).decode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            stored, distinct = self._writer.count()
            await respond(send, 200, {"stored": stored, "distinct": distinct})
            return
        body = b""
        more = True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        seq = await self._writer.write(self._decode(body))
        await respond(send, 201, {"seq": seq})


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
    app = App(GroupWriter(options.data / "raw.db"))
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=options.port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
