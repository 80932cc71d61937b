"""OpenCode's HTTP server on loopback: its address, requests to it, and its event stream as lines."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from greenroom.runtimes.agents.opencode import manifest
from greenroom.runtimes.contract import Process

_LIMIT_S = 30.0
_TRY_S = 2.0
_PAUSE_S = 0.1
_EVENT_BYTES = 64 * 1024 * 1024


class OpencodeServer:
    """One server, for one directory."""

    def __init__(self, url: str, password: str, directory: Path) -> None:
        self.url = url
        timeout = httpx2.Timeout(_LIMIT_S)
        self._http = httpx2.AsyncClient(
            base_url=url,
            auth=(manifest.USER, password),
            params={"directory": str(directory)},
            timeout=timeout,
            trust_env=False,
        )
        self._events: AsyncIterator[bytes] | None = None

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the server. Raises ValueError when it says no, ConnectionError when it is gone."""
        content = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"} if content else None
        try:
            answer = await self._http.request(method, path, content=content, headers=headers)
        except httpx2.TransportError as error:
            raise ConnectionError(f"OpenCode's server is gone: {error}") from None
        if answer.status_code >= 400:
            raise ValueError(_format_error(answer))
        return msgspec.json.decode(answer.content) if answer.content else None

    async def wait_until_healthy(self) -> None:
        """Wait until it answers: a request that comes while it starts may hang forever, so each gets little time."""
        while True:
            with contextlib.suppress(httpx2.TransportError):
                if (await self._http.get("/global/health", timeout=_TRY_S)).status_code == 200:
                    return
            await asyncio.sleep(_PAUSE_S)

    async def listen(self) -> None:
        """Connect to the events. What happens from then on is read line by line."""
        self._events = self._stream()
        first = await self.read_line()
        if not first:
            raise ConnectionError("OpenCode's server has no events")

    async def read_line(self) -> bytes:
        """The next event; empty at the end."""
        if self._events is None:
            return b""
        return await anext(self._events, b"")

    async def write(self, data: bytes) -> None:
        """Nothing is said on the stream of events: that is what requests are for."""
        raise ConnectionError("events are only heard")

    async def _stream(self) -> AsyncIterator[bytes]:
        timeout = httpx2.Timeout(_LIMIT_S, read=None)
        buffer = bytearray()
        with contextlib.suppress(httpx2.TransportError):  # the process's end shows it
            async with self._http.stream("GET", "/event", timeout=timeout) as answer:
                async for piece in answer.aiter_bytes():
                    buffer += piece
                    while (end := buffer.find(b"\n")) >= 0:
                        line = bytes(buffer[:end]).strip()
                        del buffer[: end + 1]
                        if line.startswith(b"data:"):
                            yield line.removeprefix(b"data:").strip()
                    if len(buffer) > _EVENT_BYTES:
                        return

    async def close(self) -> None:
        await self._http.aclose()


async def find_address(process: Process) -> str:
    """Where the server listens, which it prints. Raises ConnectionError when it ends instead."""
    while line := await process.read_line():
        text = line.decode(errors="replace").strip()
        if manifest.LISTENS in text:
            return text.partition(manifest.LISTENS)[2].split()[0]
    raise ConnectionError("it ended before it listened")


async def drain(process: Process) -> None:
    """Read what the server prints, so that it is never held up by it."""
    while await process.read():
        pass


def _format_error(answer: httpx2.Response) -> str:
    try:
        found = answer.json()
    except ValueError:
        found = {}
    data = found.get("data") if isinstance(found, dict) else None
    message = (data.get("message") if isinstance(data, dict) else None) or (
        found.get("message") if isinstance(found, dict) else None
    )
    return str(message or f"the server answered {answer.status_code}")
