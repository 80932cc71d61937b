"""The node's program: it dials the hub, resumes by number, and carries out orders until it is told to stop."""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import websockets
from websockets.asyncio.client import ClientConnection, connect

from greenroom.gateway import frames
from greenroom.log.ids import new_id
from greenroom.node.agents import HeldAgent
from greenroom.node.outbox import Outbox
from greenroom.node.processes import become_subreaper, end_marked
from greenroom.runtimes.contract import Driver

logger = logging.getLogger(__name__)
_RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
_ALONE_S = 60.0
Address = Callable[[], tuple[str, str]]
"""Where the hub is now (its base url) and the node's credential."""


class NodeProgram:
    """One node. It goes on holding its agents while the hub is away."""

    def __init__(
        self, folder: Path, address: Address, drivers: dict[str, Driver], labels: list[str], capacity: int, local: bool
    ) -> None:
        self._folder = folder
        self._address = address
        self._drivers = drivers
        self._labels = labels
        self._capacity = capacity
        self._local = local
        self._outbox = Outbox(folder)
        self._boot = new_id("boot")
        self._agents: dict[str, HeldAgent] = {}
        self._found: dict[str, str] = {}
        self._link: ClientConnection | None = None
        self._outgoing: asyncio.Queue[frames.FromNode] = asyncio.Queue(1024)
        self._watched: set[str] = set()
        self._mcp_url = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._hub_stopping = False
        self._alone_since = time.monotonic()

    async def run(self) -> None:
        """Hold agents for the hub; returns when a local node has nothing to hold and no hub."""
        become_subreaper()
        self._end_leftovers()
        await self._find_drivers()
        for order in self._outbox.open_orders():
            self._outbox.order_done(order.id)  # its agent went down with the last boot; the hub is told by `live`
        idle = asyncio.create_task(self._end_idle())
        attempt = 0
        try:
            while not self._may_go():
                try:
                    await self._connected()
                    attempt = 0
                except (OSError, TimeoutError, websockets.WebSocketException, ValueError) as error:
                    logger.info("the hub cannot be reached: %s", error)
                await asyncio.sleep(_RETRY_S[min(attempt, len(_RETRY_S) - 1)])
                attempt += 1
        finally:
            idle.cancel()
            await self.stop()

    def _may_go(self) -> bool:
        if not self._local or any(agent.session is not None for agent in self._agents.values()):
            return False
        return self._hub_stopping or time.monotonic() - self._alone_since > _ALONE_S

    async def stop(self) -> None:
        """End every agent."""
        await asyncio.gather(*(agent.close() for agent in self._agents.values()))
        self._outbox.close()

    def _end_leftovers(self) -> None:
        """Processes of an earlier boot of this node that outlived it are ended before anything else."""
        path = self._folder / "trees"
        for mark in path.read_text().split() if path.exists() else []:
            end_marked(mark)
        path.write_text("")

    async def _find_drivers(self) -> None:
        env = dict(os.environ)
        for name, driver in self._drivers.items():
            found = await driver.find(env)
            if found is not None:
                self._found[name] = found.version

    async def _connected(self) -> None:
        url, token = self._address()
        target = url.replace("http", "ws", 1) + "/node"
        headers = {"Authorization": f"Bearer {token}"}
        async with connect(target, additional_headers=headers, max_size=16 * 1024 * 1024, ping_interval=None) as link:
            await self._greet(link)
            self._link = link
            self._alone_since = time.monotonic()
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._write(link))
                    tasks.create_task(self._beat(link))
                    await self._read(link)
                    raise ConnectionError("the hub closed the connection")
            except* (OSError, websockets.WebSocketException) as lost:
                raise ConnectionError(str(lost.exceptions[0])) from None
            finally:
                self._link = None
                self._alone_since = time.monotonic()

    async def _greet(self, link: ClientConnection) -> None:
        live = [agent.run_id for agent in self._agents.values() if agent.run_id is not None]
        hello = frames.Hello(
            version=frames.LINK_VERSION,
            boot=self._boot,
            labels=self._labels,
            capacity=self._capacity,
            drivers=self._found,
            live=live,
        )
        await link.send(frames.encode(hello).decode())
        async with asyncio.timeout(frames.LEASE_S):
            welcome = frames.decode_from_hub(await link.recv())
        if not isinstance(welcome, frames.Welcome):
            raise ValueError("the hub did not welcome this node")
        self._mcp_url = welcome.mcp_url
        self._hub_stopping = False
        self._outbox.acked(welcome.taken)
        self._outgoing = asyncio.Queue(1024)
        for item in self._outbox.unacked():
            await link.send(frames.encode(item).decode())

    async def _write(self, link: ClientConnection) -> None:
        while True:
            await link.send(frames.encode(await self._outgoing.get()).decode())

    async def _beat(self, link: ClientConnection) -> None:
        while True:
            await asyncio.sleep(frames.LEASE_S / 3)
            await link.send(frames.encode(frames.Ping()).decode())

    async def _read(self, link: ClientConnection) -> None:
        while True:
            async with asyncio.timeout(frames.LEASE_S):
                frame = frames.decode_from_hub(await link.recv())
            match frame:
                case frames.Ack():
                    self._outbox.acked(frame.number)
                case frames.Ordered():
                    if self._outbox.keep_order(frame):
                        self._do(self._carry_out(frame))
                    self._say(frames.Taken(orders=[frame.id]))
                case frames.Watch():
                    (self._watched.add if frame.on else self._watched.discard)(frame.agent)
                case frames.Stopping():
                    self._hub_stopping = True
                case _:
                    pass

    def _do(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, order: frames.Ordered) -> None:
        try:
            agent = self._agents.get(order.agent)
            match order.what:
                case "start":
                    await self._start(order)
                case "steer" if agent:
                    await agent.steer(str(order.body.get("text") or ""))
                case "decide" if agent:
                    await agent.decide(order.body)
                case "cancel" if agent and agent.run_id == order.run:
                    await agent.cancel()
                case "pause" if agent:
                    await agent.pause()
                case "go_on" if agent:
                    await agent.go_on()
                case "end" if agent:
                    await agent.close()
                case _:
                    logger.info("order %s (%s) finds no agent", order.id, order.what)
        finally:
            self._outbox.order_done(order.id)

    async def _start(self, order: frames.Ordered) -> None:
        driver = self._drivers.get(str(order.body.get("definition", {}).get("driver")))
        if driver is None:
            self._tell(order.run, {"type": "died", "code": None, "last_words": "this node has no such driver"})
            return
        agent = self._agents.get(order.agent)
        if agent is None:
            agent = self._agents[order.agent] = HeldAgent(order.agent, self._folder, self._tell, self._show)
            with (self._folder / "trees").open("a") as file:
                file.write(agent.spawner.mark + "\n")
        await agent.start(order, driver, self._mcp_url, dict(os.environ))

    def _tell(self, run_id: str, heard: dict[str, Any]) -> None:
        """Keep what was heard until the hub has it, and send it if the hub is there."""
        self._say(self._outbox.add(run_id, time.time_ns() // 1_000_000, heard))

    def _say(self, frame: frames.FromNode) -> None:
        """Send soon. When the hub does not keep up the connection is cut, and resumed from the outbox."""
        if self._link is None:
            return
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self._do(self._link.close())

    def _show(self, agent_id: str, kind: str, data: Any) -> None:
        """Show something to whoever looks just now; it is dropped when the hub is away or slow."""
        if self._link is not None and agent_id in self._watched and self._outgoing.qsize() < 512:
            self._outgoing.put_nowait(frames.Live(agent=agent_id, kind=kind, data=data))

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            for agent in list(self._agents.values()):
                idle = agent.session is not None and agent.run_id is None
                if idle and now - agent.idle_since > agent.idle_s:
                    await agent.close()


def read_token(path: Path) -> str:
    """A credential from its file."""
    return path.read_text().strip()


def local_address(hub_file: Path, token_file: Path) -> Address:
    """Where the hub of this machine is just now: it may have another port after a restart."""

    def address() -> tuple[str, str]:
        found = msgspec.json.decode(hub_file.read_bytes())
        return str(found["url"]), read_token(token_file)

    return address
