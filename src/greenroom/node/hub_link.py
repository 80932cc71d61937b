"""The node's end of its connection to the hub: it connects, greets, and sends what the hub has not received."""

import asyncio
import contextlib
import logging
import ssl
from collections import deque
from collections.abc import Callable
from http import HTTPStatus

import msgspec
import websockets
from websockets.asyncio.client import ClientConnection, connect

from greenroom.clock import steady_ms
from greenroom.link import frames
from greenroom.node.hub_addresses import Address, CertificateMismatch, HubAddress, make_tls_context
from greenroom.node.outbox import NodeOutbox

logger = logging.getLogger(__name__)
_WINDOW = 512
_BATCH = 64
_LIVE = 512
_FRAME_BYTES = 16 * 1024 * 1024


class NodeRejected(Exception):
    """The hub is there and does not take this node; it says why."""


class NodeDismissed(NodeRejected):
    """The hub has ended this node's credential while it was connected: it is a node no more."""


class NoRedirectConnect(connect):
    """A connection to the one place that was named: whoever sends us elsewhere would get the node's credential."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class HubLink:
    """One connection after the other. What must not be lost is in the outbox, so that each can end at any moment."""

    def __init__(
        self,
        address: Address,
        outbox: NodeOutbox,
        hello: Callable[[], frames.Hello],
        welcomed: Callable[[frames.Welcome], None],
        heard: Callable[[frames.FromHub], None],
    ) -> None:
        self._address = address
        self._outbox = outbox
        self._hello = hello
        self._welcomed = welcomed
        self._heard = heard
        self._where: HubAddress | None = None
        """The hub that has welcomed this node last."""
        self._is_up = asyncio.Event()
        self._link: ClientConnection | None = None
        self._lease_s = frames.LEASE_S
        self._words: deque[frames.FromNode] = deque()
        self._something = asyncio.Event()
        self._asked_ms: deque[int] = deque()
        """When each ping was sent that the hub has not answered yet."""
        self._proven_ms = 0
        """When the newest ping was sent that the hub has answered: it sends what comes now later than that."""

    @property
    def is_up(self) -> bool:
        return self._is_up.is_set()

    @property
    def url(self) -> str:
        """Where the hub is, or was last."""
        return self._where.url if self._where is not None else ""

    async def wait_for_hub(self, within_s: float) -> HubAddress | None:
        """The hub, once this node is joined to it; None if it is not in that time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._is_up.wait()
        return self._where if self.is_up else None

    async def hold(self) -> None:
        """Connect, and serve the connection until it is lost, which is raised as an OSError or as NotWelcome."""
        where = self._address()
        headers = {"Authorization": f"Bearer {where.token}"}
        target = where.url.replace("http", "ws", 1) + "/node"
        try:
            async with NoRedirectConnect(
                target,
                additional_headers=headers,
                max_size=_FRAME_BYTES,
                ping_interval=None,
                proxy=None,
                ssl=make_tls_context(where),
            ) as link:
                sent = await self._greet(link, where)
                self._link = link
                self._is_up.set()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._write(link, sent))
                    tasks.create_task(self._beat(link))
                    tasks.create_task(self._read(link))
        except* websockets.ConnectionClosed as closed:
            raise _explain_close(closed) from None
        except* (OSError, websockets.WebSocketException) as lost:
            raise _explain_failure(lost.exceptions[0], was_welcome=self._where is not None) from None
        finally:
            self._link = None
            self._is_up.clear()

    async def _greet(self, link: ClientConnection, where: HubAddress) -> int:
        self._words.clear()
        self._asked_ms.clear()
        asked_ms = steady_ms()
        hello = msgspec.structs.replace(self._hello(), insecure=where.insecure)
        await link.send(frames.encode(hello).decode())
        async with asyncio.timeout(frames.LEASE_S):
            welcome = frames.decode_from_hub(await link.recv())
        if not isinstance(welcome, frames.Welcome):
            raise ConnectionError("the hub did not welcome this node")
        if not self._outbox.is_owned_by(welcome.node):
            raise ConnectionError("it is another node now: what was kept for the one before is forgotten")
        self._lease_s = welcome.lease_s
        self._outbox.take_ack(welcome.taken)
        self._where = where
        self._proven_ms = asked_ms
        self._welcomed(welcome)
        return welcome.taken

    async def _write(self, link: ClientConnection, sent: int) -> None:
        """Small words first, then items in order; no more of them are under way than the window allows."""
        while True:
            self._something.clear()
            while self._words:
                await link.send(frames.encode(self._words.popleft()).decode())
            room = min(_BATCH, self._outbox.acked + _WINDOW - sent)
            found = self._outbox.find_after(sent, room) if room > 0 else []
            for number, text in found:
                await link.send(text)
                sent = number
            if not found:
                await self._something.wait()

    async def _beat(self, link: ClientConnection) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 3)
            self._asked_ms.append(steady_ms())
            await link.send(frames.encode(frames.PingFrame()).decode())

    async def _read(self, link: ClientConnection) -> None:
        while True:
            async with asyncio.timeout(self._lease_s):
                frame = frames.decode_from_hub(await link.recv())
            if isinstance(frame, frames.Ack):
                self._outbox.take_ack(frame.number)
                self._something.set()
            elif isinstance(frame, frames.PongFrame) and self._asked_ms:
                self._proven_ms = self._asked_ms.popleft()
            elif not self._has_late_keys(frame):
                self._heard(frame)

    def may_be_late(self, order: frames.Ordered) -> bool:
        """Whether an approval may be too old to act on. This program may have been stopped while it lay in a buffer,
        and the hub's clock may be another one: so the time counts from the last word that the hub has answered."""
        return order.good_for_s is not None and self._is_older_than(order.good_for_s)

    def _has_late_keys(self, frame: frames.FromHub) -> bool:
        """Whether these are keys from before a lost connection: the person has since learned that keys are not sent."""
        return isinstance(frame, frames.TerminalInput) and self._is_older_than(self._lease_s)

    def _is_older_than(self, seconds: float) -> bool:
        """Whether a frame read now may have been sent so long ago."""
        return steady_ms() - self._proven_ms > seconds * 1000

    async def redial(self) -> None:
        """End the connection, for another greeting; unacknowledged frames are sent again over the next."""
        if self._link is not None:
            await self._link.close()

    def wake(self) -> None:
        """There is something new in the outbox."""
        self._something.set()

    def send_soon(self, frame: frames.Taken | frames.Looked) -> None:
        """Send a small frame soon, if the hub is there; its content is sent again after a new connection."""
        if self._link is not None:
            self._words.append(frame)
            self._something.set()

    def show(self, frame: frames.Live) -> bool:
        """Show something to current viewers; False when the hub is away or slow, and it is dropped."""
        if self._link is None or len(self._words) >= _LIVE:
            return False
        self._words.append(frame)
        self._something.set()
        return True


_MAKE_ONE = "make one by `greenroom node add NAME` on the hub's machine, and give it by --token-file"


def _explain_failure(lost: BaseException, *, was_welcome: bool) -> Exception:
    """Why the hub was not reached, for whoever can do something about it."""
    status = lost.response.status_code if isinstance(lost, websockets.InvalidStatus) else None
    if status == HTTPStatus.UNAUTHORIZED and was_welcome:
        return NodeDismissed("its credential was ended while it was away")
    if status == HTTPStatus.UNAUTHORIZED:
        return NodeRejected(f"its token is not known there, for it is another hub's or was revoked: {_MAKE_ONE}")
    if status == HTTPStatus.FORBIDDEN:
        return NodeRejected(f"its token is not a node's: {_MAKE_ONE}")
    if isinstance(lost, ssl.SSLCertVerificationError) and not isinstance(lost, CertificateMismatch):
        return ConnectionError(
            f"this machine does not trust its certificate ({lost.verify_message}): give the digest that `greenroom node"
            " add` shows on the hub's machine by --pin"
        )
    return ConnectionError(str(lost) or "it does not answer in time")


def _explain_close(closed: "BaseExceptionGroup[websockets.ConnectionClosed]") -> Exception:
    """Whether the hub closed the connection on purpose, with a reason, or it was lost."""
    for error in closed.exceptions:
        received = error.rcvd if isinstance(error, websockets.ConnectionClosed) else None
        if received is not None and received.code == frames.NOT_WELCOME:
            return NodeRejected(received.reason)
        if received is not None and received.code == frames.ENDED:
            return NodeDismissed("it was removed, or its credential was ended")
    return ConnectionError("the connection was closed")
