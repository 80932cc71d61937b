"""The address on this machine at which agents reach the hub. It stays the same when the hub moves or restarts."""

import asyncio
import contextlib
import logging
import re
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import msgspec

from greenroom.node.hub_addresses import HubAddress, make_tls_context
from greenroom.node.hub_link import HubLink
from greenroom.node.proxy_connections import MOST, ProxyConnections

logger = logging.getLogger(__name__)
_HEAD_BYTES = 65_536
_BODY_BYTES = 1024 * 1024
_HEAD_S = 5.0
"""How long a caller has to show a credential."""
_BODY_S = 30.0
_HUB_S = 30.0
"""How long a request waits for a hub that is away."""
_AGAIN_S = 0.2
_CONNECT_S = 10.0
_PIECE = 65_536
_BEARER = re.compile(rb"\r\nauthorization: *bearer +([^\s]+)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+) *\r\n", re.IGNORECASE)
_UNKNOWN_LENGTH = re.compile(rb"\r\n(?:transfer-encoding|upgrade|expect):", re.IGNORECASE)
_UNAVAILABLE = b"HTTP/1.1 503 "
_UNPROVEN = (b"", b"400", b"401", b"403", b"421", b"429", b"431")
"""Statuses with which the hub answers before it has looked at a credential, or because it does not take it."""
_QUEUE = 1024
"""Connections that the kernel queues. With a short queue, clients would not be served in order."""
_LOOKS = 4
"""After so many rounds of the loop, what a new connection has sent by then has been read."""


class RpcMethod(msgspec.Struct):
    """How much of a message is needed to recognize it."""

    method: str = ""


class AgentRequest(msgspec.Struct, frozen=True):
    """A request of an agent. `is_whole`: all of it is here, so that it can be sent more than once."""

    head: bytes
    body: bytes
    is_whole: bool

    @property
    def method(self) -> str:
        """The MCP tool or method of a request; empty if unknown."""
        try:
            return msgspec.json.decode(self.body, type=RpcMethod).method if self.body else ""
        except (msgspec.DecodeError, RecursionError):
            return ""

    @property
    def changes_nothing(self) -> bool:
        """Whether it may be sent again though the hub may have carried it out."""
        return self.head.startswith(b"GET ") or self.method not in ("", "tools/call")


class Unanswered(Exception):
    """The hub is gone, and nothing of its answer has come. `is_undone`: it has not carried the request out."""

    def __init__(self, message: str, *, is_undone: bool) -> None:
        super().__init__(message)
        self.is_undone = is_undone


class HubProxy:
    """Hands each request on to the hub that the node is joined to, over what the node knows it by. It adds no right:
    whoever calls shows a credential of their own. A request outlasts a restart of the hub where that does no harm."""

    def __init__(self, link: HubLink) -> None:
        self._link = link
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._callers = ProxyConnections()
        self._asks: WeakValueDictionary[bytes, asyncio.Event] = WeakValueDictionary()
        self.url = ""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES, backlog=_QUEUE)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def watch_tools_list(self, token: str) -> asyncio.Event:
        """An event that is set once the holder of this credential has got the list of the hub's tools."""
        return self._asks.setdefault(token.encode(), asyncio.Event())

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="a request of an agent")
        self._serving.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        self._callers.forget(task)

    async def _read_head(self, reader: asyncio.StreamReader) -> bytes:
        """The head of a request. A connection without one may be closed for others, but not before it was read."""
        for _ in range(_LOOKS):
            await asyncio.sleep(0)
        self._callers.note_silent()
        async with asyncio.timeout(_HEAD_S):
            return await reader.readuntil(b"\r\n\r\n")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request for each connection, so that little has to be known of where a body ends."""
        try:
            head = await self._read_head(reader)
            if not self._is_for_us(head):
                writer.write(
                    _build_response("421 Misdirected Request", "This address is for agents of this machine only.")
                )
                return
            if not self._callers.admit(_parse_bearer(head), self._asks):
                writer.write(
                    _build_response("503 Service Unavailable", f"Agents have {MOST} requests open: try again.")
                )
                return
            async with asyncio.timeout(_BODY_S):
                request = await _read_request(head, reader)
            await self._forward(request, reader, writer)
            if request.method == "tools/list" and (asked := self._asks.get(_parse_bearer(request.head))) is not None:
                asked.set()
        except Unanswered as no:
            status = "503 Service Unavailable" if no.is_undone else "502 Bad Gateway"
            writer.write(_build_response(status, str(no)))
        except (OSError, EOFError, asyncio.LimitOverrunError) as lost:
            logger.debug("a request to the hub was cut: %s", lost)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _forward(self, request: AgentRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Have the hub answer. Raises Unanswered if it does not, and may or must not be asked again."""
        until = asyncio.get_running_loop().time() + _HUB_S
        while not reader.at_eof():
            left_s = until - asyncio.get_running_loop().time()
            where = await self._link.wait_for_hub(max(0.0, left_s))
            if where is None:
                raise Unanswered("The hub cannot be reached just now: try again.", is_undone=True)
            try:
                status = await _exchange(request, where, reader, writer)
                if status not in _UNPROVEN:
                    self._callers.note_proven(_parse_bearer(request.head))
                return
            except Unanswered as no:
                if left_s <= 0 or not (no.is_undone or (request.is_whole and request.changes_nothing)):
                    raise
            await asyncio.sleep(_AGAIN_S)

    def _is_for_us(self, head: bytes) -> bool:
        """Whether a request names our address: a page of a browser under another name for this machine is refused."""
        hosts = [line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"host:")]
        return hosts == [urlsplit(self.url).netloc.encode()]


async def _read_request(head: bytes, reader: asyncio.StreamReader) -> AgentRequest:
    """A request with its body, unless that is long or nobody knows how long."""
    length = _LENGTH.search(head)
    size = int(length[1]) if length else 0
    if size > _BODY_BYTES or _UNKNOWN_LENGTH.search(head):
        return AgentRequest(head, b"", is_whole=False)
    return AgentRequest(head, await reader.readexactly(size), is_whole=True)


async def _exchange(
    request: AgentRequest, where: HubAddress, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bytes:
    """One request and its answer, piece by piece, until either side has nothing more to say. Returns its status."""
    hub = urlsplit(where.url)
    hub_reader, hub_writer = await _connect(where)
    asking = asyncio.create_task(_pump(reader, hub_writer))
    answering = asyncio.create_task(_read_answer_start(request, hub_reader))
    ways: list[asyncio.Task[Any]] = [asking, answering]
    status = b""
    try:
        hub_writer.write(_rewrite_head(request.head, hub.netloc.encode(), hub.path.encode()) + request.body)
        await asyncio.wait([asking, answering], return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            status = answering.result()[9:12]
            writer.write(answering.result())
            following = asyncio.create_task(_pump(hub_reader, writer))
            ways.append(following)
            await asyncio.wait([asking, following], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        hub_writer.close()
        with contextlib.suppress(OSError):
            await hub_writer.wait_closed()
    return status


async def _connect(where: HubAddress) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    hub = urlsplit(where.url)
    tls = make_tls_context(where)
    try:
        async with asyncio.timeout(_CONNECT_S):
            return await asyncio.open_connection(hub.hostname, hub.port or (443 if tls else 80), ssl=tls)
    except OSError as error:
        raise Unanswered(f"The hub cannot be reached just now ({error}): try again.", is_undone=True) from error


async def _read_answer_start(request: AgentRequest, hub_reader: asyncio.StreamReader) -> bytes:
    """The beginning of the hub's answer. Raises Unanswered if there is none, or only that the hub is stopping."""
    try:
        piece = await hub_reader.read(_PIECE)
        while piece.startswith(_UNAVAILABLE) and len(piece) < _PIECE and (more := await hub_reader.read(_PIECE)):
            piece += more
    except OSError:
        piece = b""
    if not piece:
        words = "The hub went away before it answered: it may have carried this out, or not."
        raise Unanswered(words, is_undone=False)
    if request.is_whole and piece.startswith(_UNAVAILABLE) and b'"stopping"' in piece:
        raise Unanswered("The hub is stopping: try again when it is back.", is_undone=True)
    return piece


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


def _parse_bearer(head: bytes) -> bytes:
    found = _BEARER.search(head)
    return found[1] if found else b""


def _rewrite_head(head: bytes, host: bytes, path: bytes) -> bytes:
    """The head of a request as the hub is to get it: for the hub, and the only one of its connection."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    names = [line.partition(b":")[0].strip().lower() for line in lines]
    kept = [line for name, line in zip(names, lines, strict=True) if name not in (b"host", b"connection")]
    method, _, target = first.partition(b" ")
    connection = b"Upgrade" if b"upgrade" in names else b"close"
    return (
        b"\r\n".join([method + b" " + path + target, b"Host: " + host, *kept, b"Connection: " + connection])
        + b"\r\n\r\n"
    )


def _build_response(status: str, sentence: str) -> bytes:
    body = sentence.encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Retry-After: 2\r\nConnection: close\r\n\r\n"
    ).encode() + body
