"""Connections of nodes: greets each, fences it by its epoch, sends orders and receives items."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from greenroom.errors import Refused, Unavailable
from greenroom.ids import new_id
from greenroom.link import frames
from greenroom.link.orders import StartOrder
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.link.tokens import Token, new_token
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Commit
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import HUB, RIGHTS, CreateCredential, Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.nodes.model import (
    NODES,
    ORDERS,
    ConnectNode,
    LoseNode,
    NodeConnected,
    Order,
    TakeOrders,
)
from greenroom.rules.runs.commands import NodeItem, ReconcileNode, TakeItem
from greenroom.rules.runs.permissions import get_seconds_left
from greenroom.services.hub import Hub
from greenroom.services.local_node import fit_capacity
from greenroom.services.node_link import NodeLink, receive_text
from greenroom.services.node_rate_limits import NodeRateLimits
from greenroom.services.run_placer import RunPlacer
from greenroom.services.skills import add_skills

logger = logging.getLogger(__name__)
_HELLO_S = 10
_UNTAKEN = 256
_CUT = 4500
_RETRY_S = 1.0
LiveListener = Callable[[str, frames.LiveKind, Any], None]


class NodeLinks:
    """All nodes that are connected."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._links: dict[str, NodeLink] = {}
        self._listeners: dict[str, list[LiveListener]] = {}
        self._paces = NodeRateLimits(hub)
        self._placing = RunPlacer(hub)
        hub.log.subscribe(self._on_commit, ORDERS)
        hub.signals.listen(self._on_signal)

    async def connect(self, scope: Scope, receive: Receive, send: Send, by: Principal) -> None:
        """Serve one connection of a node, as an ASGI WebSocket."""
        await receive()
        await send({"type": "websocket.accept"})
        code, reason = frames.NOT_WELCOME, ""
        try:
            async with asyncio.timeout(_HELLO_S):
                hello = frames.decode_hello(await receive_text(receive))
            link = await self._greet(hello, by, send)
            code = _CUT
            await self._serve(link, receive)
        except (ValueError, Refused) as error:
            reason = str(error)
        except (OSError, Unavailable) as error:
            code, reason = _CUT, str(error)
        logger.info("node %s: %s", by.agent_id, reason or "gone")
        with contextlib.suppress(RuntimeError, OSError):  # it may have gone already
            await send({"type": "websocket.close", "code": code, "reason": reason[:120]})

    async def _greet(self, hello: frames.Hello, by: Principal, send: Send) -> NodeLink:
        node_id = by.agent_id or ""
        known = self._hub.rows.get(NODES, node_id)
        done = await self._hub.log.do(
            copy_fields(
                hello,
                ConnectNode,
                by=by,
                node_id=node_id,
                capacity=fit_capacity(self._hub.settings, known, hello.capacity),
                hub=self._hub.instance,
            )
        )
        node = self._hub.rows.get(NODES, node_id)
        taken, name = (node.taken, node.name) if node else (0, "")
        link = NodeLink(by, done.first(NodeConnected).epoch, hello, taken, send)
        if (older := self._links.get(node_id)) is not None:
            older.is_over.set()
        self._links[node_id] = link
        link.send_soon(frames.Welcome(node=node_id, epoch=link.epoch, taken=taken, lease_s=frames.LEASE_S, name=name))
        return link

    async def _serve(self, link: NodeLink, receive: Receive) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(link.write())
                tasks.create_task(link.end())
                tasks.create_task(self._give_orders(link))
                tasks.create_task(self._hear(link, receive))
        except* (OSError, Refused, Unavailable, msgspec.DecodeError) as lost:
            logger.info("node %s is gone: %s", link.node_id, lost.exceptions[0])
        finally:
            if self._links.get(link.node_id) is link:
                del self._links[link.node_id]
                for agent_id in tuple(self._listeners):
                    self._show(link, frames.Live(agent=agent_id, kind="away"))
            await self._lose(link)
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # a task group that fails at the same moment forgets it
            raise asyncio.CancelledError

    async def _lose(self, link: NodeLink) -> None:
        """Note that a node is gone, if need be once the disk takes it: a later boot of it is let in only after that."""
        while True:
            try:
                await self._hub.log.do(LoseNode(by=HUB, node_id=link.node_id, epoch=link.epoch))
                return
            except Unavailable as no:
                if no.code == "stopping":  # at its start every node is unreachable
                    return
                logger.warning("that node %s is gone must wait: %s", link.node_id, no)
                await asyncio.sleep(_RETRY_S)

    async def _hear(self, link: NodeLink, receive: Receive) -> None:
        """Take what the node says; a lease without a word ends the connection."""
        taking = asyncio.Semaphore(_UNTAKEN)
        async with asyncio.TaskGroup() as tasks:
            while True:
                async with asyncio.timeout(frames.LEASE_S):
                    text = await receive_text(receive)
                await self._paces.wait(link.node_id, len(text))
                frame = frames.decode_from_node(text)
                match frame:
                    case frames.ItemFrame():
                        await taking.acquire()
                        tasks.create_task(self._handle_item(link, frame, len(text), taking))
                    case frames.Taken():
                        await taking.acquire()
                        tasks.create_task(self._handle_taken(link, frame, taking))
                    case frames.Live():
                        self._show(link, frame)
                    case frames.Looked():
                        link.resolve_check(frame)
                    case frames.PingFrame():
                        link.send_soon(frames.PongFrame())
                    case frames.Hello():
                        raise ConnectionError("said hello twice")

    async def _handle_item(self, link: NodeLink, item: frames.ItemFrame, size: int, taking: asyncio.Semaphore) -> None:
        sent = NodeItem(item.number, item.run, item.at, item.heard, size)
        try:
            await self._hub.log.do(
                TakeItem(by=link.by, node_id=link.node_id, epoch=link.epoch, item=sent, order_id=new_id("ord"))
            )
        finally:
            taking.release()
        link.send_soon(frames.Ack(number=item.number))
        link.note_taken(item.number)

    async def _handle_taken(self, link: NodeLink, frame: frames.Taken, taking: asyncio.Semaphore) -> None:
        taken = TakeOrders(by=link.by, node_id=link.node_id, epoch=link.epoch, order_ids=frame.orders)
        try:
            await self._hub.log.do(taken)
        finally:
            taking.release()

    def _show(self, link: NodeLink, frame: frames.Live) -> None:
        """What is to be seen of an agent comes from the node that holds it and from no other."""
        listeners = tuple(self._listeners.get(frame.agent, ()))
        agent = self._hub.rows.get(AGENTS, frame.agent) if listeners else None
        if agent is not None and agent.node_id == link.node_id:
            for listener in listeners:
                listener(frame.agent, frame.kind, frame.data)

    def _on_commit(self, commit: Commit) -> None:
        for change in commit.changes:
            for link in self._links.values():
                if change.row is None:
                    link.sent.discard(change.key)
                elif change.row.node_id == link.node_id:
                    link.orders.set()

    async def _give_orders(self, link: NodeLink) -> None:
        """Send the node's orders in the order they were given, each once over this connection."""
        await link.is_caught_up.wait()
        await self._hub.log.do(ReconcileNode(by=HUB, node_id=link.node_id, epoch=link.epoch, live=link.live))
        self._placing.place_soon()
        for agent_id in tuple(self._listeners):
            self._watch(agent_id, on=True)
        while True:
            link.orders.clear()
            for order in self._hub.rows.find(ORDERS, {"node_id": link.node_id}, order="_seq"):
                if order.id not in link.sent:
                    link.sent.add(order.id)
                    await self._give(link, order)
            await link.orders.wait()

    async def _give(self, link: NodeLink, order: Order) -> None:
        """Send an order; a start gets the agent's credential and its skills with it."""
        token, work = None, order.work
        if isinstance(work, StartOrder):
            token = await self._create_credential(order)
            work = await asyncio.to_thread(add_skills, work, self._hub.data)
        link.send_soon(
            frames.Ordered(
                id=order.id,
                run=order.run_id,
                agent=order.agent_id,
                work=work,
                token=token.text if token else None,
                credential=token.credential_id if token else None,
                good_for_s=get_seconds_left(order, self._hub.log.clock.now(), self._hub.settings.approval_s),
            )
        )
        if token is not None and order.agent_id in self._listeners:
            link.send_soon(frames.Watch(agent=order.agent_id, on=True))

    async def _create_credential(self, order: Order) -> Token:
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
        return token

    def listen(self, agent_id: str, listener: LiveListener) -> Callable[[], None]:
        """Subscribe to an agent's live words and terminal; the node sends them while anybody watches."""
        listeners = self._listeners.setdefault(agent_id, [])
        listeners.append(listener)
        if len(listeners) == 1:
            self._watch(agent_id, on=True)

        def end() -> None:
            listeners.remove(listener)
            if not listeners:
                self._listeners.pop(agent_id, None)
                self._watch(agent_id, on=False)

        return end

    def _watch(self, agent_id: str, *, on: bool) -> None:
        """Have the agent's node show it, or not any more; a node that is away is asked when it is back."""
        self.tell_agent(agent_id, frames.Watch(agent=agent_id, on=on))

    def is_reachable(self, agent_id: str) -> bool:
        """Whether the node that holds an agent is connected."""
        agent = self._hub.rows.get(AGENTS, agent_id)
        return agent is not None and agent.node_id in self._links

    def is_starting(self, agent_id: str) -> bool:
        """Whether an agent is on its way to its node, or being started there."""
        agent = self._hub.rows.get(AGENTS, agent_id)
        return agent is not None and agent.process == "starting"

    def tell_agent(self, agent_id: str, frame: frames.FromHub) -> bool:
        """Send a frame to the node that holds an agent; False if it is not connected."""
        agent = self._hub.rows.get(AGENTS, agent_id)
        return agent is not None and agent.node_id is not None and self.send_soon(agent.node_id, frame)

    async def check_profile(self, node_id: str, definition: ProfileDefinition) -> frames.Looked | None:
        """What a node finds in the way of a profile; None if it is not connected to this hub."""
        link = self._links.get(node_id)
        return None if link is None else await link.check_profile(definition)

    def send_soon(self, node_id: str, frame: frames.FromHub) -> bool:
        """Send a frame to a node if it is connected."""
        link = self._links.get(node_id)
        if link is None:
            return False
        link.send_soon(frame)
        return True

    def _on_signal(self, kind: SignalKind, payload: Any) -> None:
        """Notify all nodes when the hub is stopping."""
        if kind != "hub.stopping":
            return
        for link in self._links.values():
            link.send_soon(frames.Stopping())
