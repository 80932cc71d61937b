"""The address on this machine at which agents find the hub: it stays the same when the hub moves or is started anew."""

import asyncio
import contextlib
import logging
import re
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from greenroom.node.addresses import Where, tls_of
from greenroom.node.link import HubLink

logger = logging.getLogger(__name__)
_HEAD_BYTES = 65_536
_HEAD_S = 30.0
_HUB_S = 20.0
"""How long a request waits for a hub that is away."""
_CONNECT_S = 10.0
_PIECE = 65_536
_BEGINNING = 4096
_LISTING = b"tools/list"
_BEARER = re.compile(rb"\r\nauthorization: *bearer +([^\s]+)", re.IGNORECASE)
_MOST = 1000


class Passage:
    """Hands each request on to the hub that the node is joined to, over what the node knows it by. It adds no right:
    whoever calls shows a credential of their own."""

    def __init__(self, link: HubLink) -> None:
        self._link = link
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._asks: WeakValueDictionary[bytes, asyncio.Event] = WeakValueDictionary()
        self.url = ""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._called, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def asks(self, token: str) -> asyncio.Event:
        """What is set once whoever has this credential has got the list of the hub's tools; for who keeps it."""
        return self._asks.setdefault(token.encode(), asyncio.Event())

    def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._serving) >= _MOST:
            writer.close()
            return
        task = asyncio.create_task(self._serve(reader, writer), name="a request of an agent")
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request for each connection, so that nothing has to be known of where a body ends."""
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            if not self._is_for_us(head):
                writer.write(_answer("421 Misdirected Request", "This address is for agents of this machine only."))
            elif (where := await self._link.reached(_HUB_S)) is None:
                writer.write(_answer("503 Service Unavailable", "The hub cannot be reached just now: try again."))
            else:
                beginning = await _hand_on(head, where, reader, writer)
                if _LISTING in beginning and (asked := self._asks.get(_bearer(head))) is not None:
                    asked.set()
        except (OSError, EOFError, asyncio.LimitOverrunError) as lost:
            logger.debug("a request to the hub was cut: %s", lost)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _is_for_us(self, head: bytes) -> bool:
        """A page of a browser that was told another name for this machine is none of ours."""
        hosts = [line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"host:")]
        return hosts == [urlsplit(self.url).netloc.encode()]


async def _hand_on(head: bytes, where: Where, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Returns how the request began: its head and some of its body."""
    hub = urlsplit(where.url)
    tls = tls_of(where)
    try:
        async with asyncio.timeout(_CONNECT_S):
            hub_reader, hub_writer = await asyncio.open_connection(
                hub.hostname, hub.port or (443 if tls else 80), ssl=tls
            )
    except OSError as error:
        writer.write(_answer("503 Service Unavailable", f"The hub cannot be reached just now ({error}): try again."))
        return b""
    beginning = bytearray(head)
    try:
        hub_writer.write(_redirected(head, hub.netloc.encode(), hub.path.encode()))
        ways = [
            asyncio.create_task(_pump(reader, hub_writer, beginning)),
            asyncio.create_task(_pump(hub_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
    finally:
        hub_writer.close()
        with contextlib.suppress(OSError):
            await hub_writer.wait_closed()
    return bytes(beginning)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, beginning: bytearray | None = None) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            if beginning is not None and len(beginning) < _BEGINNING:
                beginning += piece[:_BEGINNING]
            writer.write(piece)
            await writer.drain()


def _bearer(head: bytes) -> bytes:
    found = _BEARER.search(head)
    return found[1] if found else b""


def _redirected(head: bytes, host: bytes, path: bytes) -> bytes:
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


def _answer(status: str, sentence: str) -> bytes:
    body = sentence.encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Retry-After: 2\r\nConnection: close\r\n\r\n"
    ).encode() + body
