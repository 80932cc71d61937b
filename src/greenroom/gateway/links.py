"""Connections of nodes: each is greeted, fenced by its epoch, sent its orders, and heard."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from greenroom.gateway import frames
from greenroom.hub import Hub
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.ids import new_id
from greenroom.log.model import Commit
from greenroom.nouns.access.model import HUB, RIGHTS, CreateCredential, Principal
from greenroom.nouns.access.tokens import new_token
from greenroom.nouns.nodes.model import NODES, ORDERS, ConnectNode, LoseNode, NodeConnected, Order, TakeOrders
from greenroom.nouns.runs.commands import PlaceRun, ReconcileNode, Sent, TakeItem
from greenroom.nouns.runs.events import RunEnded
from greenroom.nouns.runs.model import RUNS

logger = logging.getLogger(__name__)
_HELLO_S = 10
_UNACKED = 256
_OUTGOING = 4096
LiveListener = Callable[[str, str, Any], None]


class Link:
    """One connection of one node."""

    def __init__(self, node_id: str, by: Principal, epoch: int, send: Send) -> None:
        self.node_id = node_id
        self.by = by
        self.epoch = epoch
        self._send = send
        self.outgoing: asyncio.Queue[frames.FromHub] = asyncio.Queue(_OUTGOING)

    def say(self, frame: frames.FromHub) -> None:
        """Send a frame soon. A node that does not read is cut off, and resumes."""
        try:
            self.outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            raise ConnectionError("the node does not read") from None

    async def write(self) -> None:
        while True:
            frame = await self.outgoing.get()
            await self._send({"type": "websocket.send", "text": frames.encode(frame).decode()})


class Links:
    """All nodes that are connected."""

    def __init__(self, hub: Hub, mcp_url: str) -> None:
        self._hub = hub
        self._mcp_url = mcp_url
        self._links: dict[str, Link] = {}
        self._sent: set[str] = set()
        self._listeners: dict[str, list[LiveListener]] = {}
        self._starting: set[asyncio.Task[None]] = set()
        hub.log.subscribe(self._on_commit)
        hub.signals.listen(self._on_signal)

    async def connect(self, scope: Scope, receive: Receive, send: Send, by: Principal) -> None:
        """Serve one connection of a node, as an ASGI WebSocket."""
        await receive()
        await send({"type": "websocket.accept"})
        try:
            async with asyncio.timeout(_HELLO_S):
                hello = await _frame(receive)
            if not isinstance(hello, frames.Hello) or hello.version != frames.LINK_VERSION:
                raise ConnectionError(f"expected hello of version {frames.LINK_VERSION}: upgrade this node")
            link = await self._greet(hello, by, send)
            await self._serve(link, hello, receive)
        except (OSError, Refused, Unavailable, msgspec.DecodeError) as error:
            logger.warning("node %s: %s", by.agent_id, error)
            with contextlib.suppress(RuntimeError, OSError):  # it may have gone already
                await send({"type": "websocket.close", "code": 4400, "reason": str(error)[:120]})

    async def _greet(self, hello: frames.Hello, by: Principal, send: Send) -> Link:
        node_id = by.agent_id or ""
        done = await self._hub.log.do(
            ConnectNode(
                by=by,
                node_id=node_id,
                boot=hello.boot,
                labels=hello.labels,
                capacity=hello.capacity,
                drivers=hello.drivers,
            )
        )
        link = Link(node_id, by, done.first(NodeConnected).epoch, send)
        node = self._hub.rows.get(NODES, node_id)
        link.say(
            frames.Welcome(
                node=node_id,
                epoch=link.epoch,
                taken=node.taken if node else 0,
                lease_s=frames.LEASE_S,
                mcp_url=self._mcp_url,
            )
        )
        return link

    async def _serve(self, link: Link, hello: frames.Hello, receive: Receive) -> None:
        self._links[link.node_id] = link
        self._sent = {sent for sent in self._sent if not sent.startswith(f"{link.node_id}\x1f")}
        try:
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(link.write())
                live = ReconcileNode(by=HUB, node_id=link.node_id, epoch=link.epoch, live=hello.live)
                await self._hub.log.do(live)
                for order in self._hub.rows.find(ORDERS, {"node_id": link.node_id}, order="_key"):
                    await self._give(link, order)
                await self.place_waiting()
                try:
                    await self._hear(link, receive)
                finally:
                    writing.cancel()
        except* (OSError, Refused, Unavailable):
            logger.info("node %s is gone", link.node_id)
        finally:
            if self._links.get(link.node_id) is link:
                del self._links[link.node_id]
            with contextlib.suppress(Unavailable):  # the hub is stopping: at its start every node is unreachable
                await self._hub.log.do(LoseNode(by=HUB, node_id=link.node_id, epoch=link.epoch))

    async def _hear(self, link: Link, receive: Receive) -> None:
        """Take what the node says; a lease without a word ends the connection."""
        taking = asyncio.Semaphore(_UNACKED)
        async with asyncio.TaskGroup() as tasks:
            while True:
                async with asyncio.timeout(frames.LEASE_S):
                    frame = await _frame(receive)
                match frame:
                    case frames.Item():
                        await taking.acquire()
                        tasks.create_task(self._take(link, frame, taking))
                    case frames.Taken():
                        tasks.create_task(self._taken(link, frame))
                    case frames.Live():
                        for listener in tuple(self._listeners.get(frame.agent, ())):
                            listener(frame.agent, frame.kind, frame.data)
                    case frames.Ping():
                        link.say(frames.Pong())
                    case frames.Hello():
                        raise ConnectionError("said hello twice")

    async def _take(self, link: Link, item: frames.Item, taking: asyncio.Semaphore) -> None:
        sent = Sent(item.number, item.run, item.at, item.heard)
        try:
            await self._hub.log.do(
                TakeItem(by=link.by, node_id=link.node_id, epoch=link.epoch, item=sent, order_id=new_id("ord"))
            )
            link.say(frames.Ack(number=item.number))
        except (Refused, Unavailable) as error:
            raise ConnectionError(str(error)) from error
        finally:
            taking.release()

    async def _taken(self, link: Link, frame: frames.Taken) -> None:
        try:
            await self._hub.log.do(TakeOrders(by=link.by, node_id=link.node_id, order_ids=frame.orders))
        except (Refused, Unavailable) as error:
            raise ConnectionError(str(error)) from error

    def _on_commit(self, commit: Commit) -> None:
        for change in commit.changes:
            if change.table is ORDERS and change.row is not None:
                link = self._links.get(change.row.node_id)
                if link is not None:
                    self._start(self._give(link, change.row))
        if any(isinstance(record.event, (NodeConnected, RunEnded)) for record in commit.records):
            self._start(self.place_waiting())

    def _start(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _give(self, link: Link, order: Order) -> None:
        """Send an order once over this connection; a start gets the agent's credential with it."""
        mark = f"{link.node_id}\x1f{link.epoch}\x1f{order.id}"
        if mark in self._sent:
            return
        self._sent.add(mark)
        token = await self._credential(order) if order.op == "start" else None
        with contextlib.suppress(ConnectionError):  # it is sent again when the node is back
            link.say(
                frames.Ordered(
                    id=order.id, what=order.op, run=order.run_id, agent=order.agent_id, body=order.body, token=token
                )
            )

    async def _credential(self, order: Order) -> str:
        token = new_token("agent")
        await self._hub.log.do(
            CreateCredential(
                by=HUB,
                credential_id=token.credential_id,
                kind="agent",
                name=f"run {order.run_id}"[:100],
                digest=token.digest,
                rights=sorted(RIGHTS["agent"]),
                agent_id=order.agent_id,
            )
        )
        return token.text

    async def place_waiting(self) -> None:
        """Find nodes for runs that wait for one."""
        for run in self._hub.rows.find(RUNS, {"status": "pending"}, order="_key", limit=100):
            try:
                await self._hub.log.do(PlaceRun(by=HUB, run_id=run.id, order_id=new_id("ord")))
            except Refused as no:
                logger.info("run %s cannot be placed: %s", run.id, no.message)

    def listen(self, agent_id: str, listener: LiveListener) -> Callable[[], None]:
        """Hear an agent's live words and terminal; the node sends them while anybody listens."""
        listeners = self._listeners.setdefault(agent_id, [])
        listeners.append(listener)

        def end() -> None:
            listeners.remove(listener)
            if not listeners:
                self._listeners.pop(agent_id, None)

        return end

    def say(self, node_id: str, frame: frames.FromHub) -> bool:
        """Send a frame to a node if it is connected."""
        link = self._links.get(node_id)
        if link is None:
            return False
        link.say(frame)
        return True

    def _on_signal(self, kind: str, payload: Any) -> None:
        """Tell all nodes when the hub is stopping."""
        if kind != "hub.stopping":
            return
        for link in self._links.values():
            with contextlib.suppress(ConnectionError):
                link.say(frames.Stopping())


async def _frame(receive: Receive) -> frames.FromNode:
    message = await receive()
    if message["type"] != "websocket.receive":
        raise ConnectionError("disconnected")
    text = message.get("text")
    if text is None:
        raise ConnectionError("sent bytes instead of text")
    frame: frames.FromNode = frames.decode_from_node(text)
    return frame
