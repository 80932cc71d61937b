"""An MCP server on stdin and stdout that forwards every message to a hub, and survives the hub's restarts.

It imports nothing of the hub nor the SDK, so that it starts quickly: every agent starts one of its own.
"""

import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import msgspec

from greenroom.doors.mcp.pipes import Pipe
from greenroom.doors.mcp.stdio_messages import (
    VERSION,
    Head,
    RpcEnvelope,
    build_answer_line,
    build_failure,
    build_modern_headers,
    encode,
    is_modern,
    is_repeatable,
)
from greenroom.json_types import JsonObject

BACK_S = 30.0
"""How long a hub may be away before a call fails."""
_RETRY_S = 0.25
_LISTEN_S = 1.0
_FINISH_S = 0.7
_MAX_IN_FLIGHT = 256
_MAX_COMPLAINTS = 20
_SESSION = "mcp-session-id"
_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_CHANGED = encode({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
Emit = Callable[[bytes], Awaitable[None]]


class SessionEnded(Exception):
    """The hub does not know the session any more; it has not looked at the message."""


class BrokenOff(Exception):
    """The hub went away in the middle of an answer."""


class Unreachable(Exception):
    """The hub cannot be asked, or not again; the message says why."""


async def serve_stdio(url: str, token: str | None, lang: str | None = None) -> None:
    """Serve until stdin ends. `url` is the hub's address, and the token goes nowhere else."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    timeout = httpx2.Timeout(10.0, read=None, pool=None)
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout, limits=limits, trust_env=False) as http:
        async with Pipe(sys.stdin.fileno(), sys.stdout.fileno()) as pipe:
            proxy = Proxy(http, _build_endpoint_url(url, lang), pipe.write)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_pump, pipe, proxy, tasks.cancel_scope)
                tasks.start_soon(proxy.listen)
                await pipe.ended.wait()
                # A client that sends a few lines and closes gets the answers that come at once.
                await anyio.sleep(_FINISH_S)
                tasks.cancel_scope.cancel()
        await proxy.end_session()


async def _pump(pipe: Pipe, proxy: "Proxy", done: anyio.CancelScope) -> None:
    """Take each line as it comes, and be done when all are answered."""
    room = anyio.Semaphore(_MAX_IN_FLIGHT)
    complaints = 0

    async def take(message: JsonObject) -> None:
        try:
            await proxy.forward(message)
        finally:
            room.release()

    async with anyio.create_task_group() as calls:
        async for line in pipe.lines:
            try:
                message = msgspec.json.decode(line, type=JsonObject)
                msgspec.convert(message, RpcEnvelope)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                complaints += 1
                if complaints <= _MAX_COMPLAINTS:
                    print(f"greenroom mcp: a line of {len(line)} bytes is no message: {error}", file=sys.stderr)
                continue
            await room.acquire()
            calls.start_soon(take, message)
    done.cancel()


class Proxy:
    """Passes messages on. All that it remembers is how its client said hello, to say it again."""

    def __init__(self, http: httpx2.AsyncClient, url: str, emit: Emit) -> None:
        self._http = http
        self._url = url
        self._emit = emit
        self._hello: JsonObject = {}
        self._session: dict[str, str] = {}
        self._greeting = anyio.Lock()
        self._ready = anyio.Event()
        self._modern_calls: dict[Any, anyio.CancelScope] = {}

    async def forward(self, message: JsonObject) -> None:
        """Pass a message on, and to the client whatever comes back."""
        method = message.get("method")
        is_request = "id" in message and method is not None
        if method == "notifications/cancelled" and self._cancel(message):
            return
        try:
            if is_modern(message):
                with anyio.CancelScope() as scope:
                    self._modern_calls[message.get("id")] = scope
                    try:
                        await self._exchange(message, self._emit)
                    finally:
                        del self._modern_calls[message.get("id")]
            elif method == "initialize":
                # Who sends on without waiting for the answer waits here for the session.
                async with self._greeting:
                    self._hello = message
                    await self._exchange(message, self._emit)
            else:
                async with self._greeting:
                    pass
                await self._exchange(message, self._emit)
        except Unreachable as error:
            if is_request:
                await self._emit(build_failure(message["id"], str(error)))

    async def listen(self) -> None:
        """Forward what the hub sends by itself, once the client has initialized; until cancelled."""
        while True:
            await self._ready.wait()
            session = self._session
            try:
                async with self._http.stream("GET", self._url, headers=session) as response:
                    if response.status_code == 404:
                        raise SessionEnded
                    async for line in response.aiter_lines():
                        if line.startswith("data:"):
                            await self._emit(line[5:].strip().encode())
            except SessionEnded:  # changes in the meantime are unknown, so it is read again
                with suppress(Unreachable):
                    await self._reopen_session(session)
                    await self._emit(_CHANGED)
            except httpx2.TransportError:
                pass
            await anyio.sleep(_LISTEN_S)

    async def end_session(self) -> None:
        """End the session, so that the hub need not keep it until it is idle."""
        with anyio.move_on_after(_RETRY_S), suppress(httpx2.TransportError):
            if self._session:
                await self._http.delete(self._url, headers=self._session)

    def _cancel(self, message: JsonObject) -> bool:
        """The newer protocol cancels by closing the request; the older one by the message itself."""
        match message:
            case {"params": {"requestId": str() | int() as request_id}} if request_id in self._modern_calls:
                self._modern_calls[request_id].cancel()
                return True
            case _:
                return False

    async def _exchange(self, message: JsonObject, emit: Emit) -> None:
        """Ask until there is an answer. A call that was cut off is repeated once, a wait as often as needed."""
        was_cut_off = False
        give_up_s: float | None = None
        while True:
            session = self._session
            try:
                await self._post(message, emit)
                return
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                give_up_s = give_up_s or anyio.current_time() + BACK_S
                if anyio.current_time() > give_up_s:
                    raise Unreachable(f"The hub at {self._url} is not reachable: is it running?") from error
                await anyio.sleep(_RETRY_S)
            except SessionEnded:
                await self._reopen_session(session)
            except (BrokenOff, httpx2.TransportError) as error:
                if was_cut_off and not is_repeatable(message):
                    raise Unreachable(f"The hub at {self._url} broke off twice: {error}") from error
                was_cut_off = True
                give_up_s = None
                await anyio.sleep(_RETRY_S)

    async def _post(self, message: JsonObject, emit: Emit) -> None:
        """One attempt."""
        headers = build_modern_headers(message) if is_modern(message) else self._session
        if message.get("method") == "initialize":
            headers = {}
        async with self._http.stream("POST", self._url, content=encode(message), headers=headers) as response:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                await _pass_events(response, emit)
                return
            body = await response.aread()
        if response.status_code == 404 and _SESSION in headers:
            raise SessionEnded
        if message.get("method") == "initialize" and _SESSION in response.headers:
            version = msgspec.json.decode(body)["result"]["protocolVersion"]
            self._session = {_SESSION: response.headers[_SESSION], VERSION: version}
            self._ready.set()
        if "id" in message and "method" in message:
            await emit(build_answer_line(message["id"], response.status_code, body))

    async def _reopen_session(self, lost: dict[str, str]) -> None:
        """Open a new session as the client opened the first, unless another call has done so."""
        async with self._greeting:
            if self._session is lost:
                await self._exchange(self._hello, _drop)
                with suppress(SessionEnded, httpx2.TransportError):
                    await self._post(_READY, _drop)


async def _pass_events(response: httpx2.Response, emit: Emit) -> None:
    answered = False
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data = line[5:].strip().encode()
            answered = msgspec.json.decode(data, type=Head).method is None
            await emit(data)
    if not answered:
        raise BrokenOff("the answer is missing")


async def _drop(_answer: bytes) -> None:
    """The client had its answer when it said hello itself."""


def _build_endpoint_url(url: str, lang: str | None) -> str:
    base = url.rstrip("/")
    path = base if base.endswith(("/mcp", "/mcp/sse")) else base + "/mcp"
    return path if lang is None else f"{path}?lang={quote(lang)}"
