"""The node's program: runs agents for a hub and carries out its orders, also while the hub is away."""

import asyncio
import logging
import os
import random
import sys
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec

from greenroom.ids import new_id
from greenroom.link import frames, orders, reports
from greenroom.node.agents import HeldAgent
from greenroom.node.hub_addresses import Address
from greenroom.node.hub_link import HubLink, NodeDismissed, NodeRejected
from greenroom.node.hub_proxy import HubProxy
from greenroom.node.launch_env import Launch, LaunchContext, remove_leftover_files
from greenroom.node.order_dispatch import pass_order_on
from greenroom.node.outbox import NodeOutbox
from greenroom.node.output_buffer import redact_tokens
from greenroom.node.processes import reap
from greenroom.node.profile_check import check_profile
from greenroom.node.runtime_finder import RuntimeFinder
from greenroom.node.terminals import TerminalPacer
from greenroom.runtimes.contract import Driver
from greenroom.runtimes.process_trees import become_subreaper, build_family_mark, end_tree

logger = logging.getLogger(__name__)
_RETRY_S = (0.1, 0.3, 1.0, 2.0, 3.0)
_ALONE_S = 60.0
_LOOK_S = 1.0
_FORGET_S = 3600.0


class NodeProgram:
    """One node."""

    def __init__(
        self, folder: Path, address: Address, drivers: dict[str, Driver], labels: list[str], capacity: int, local: bool
    ) -> None:
        self._folder = folder
        self._drivers = drivers
        self._labels = labels
        self._capacity = capacity
        self._local = local
        self._outbox = NodeOutbox(folder)
        self._link = HubLink(address, self._outbox, self._hello, self._on_welcome, self._on_frame)
        self._passage = HubProxy(self._link)
        self._boot = new_id("boot")
        self._agents: dict[str, HeldAgent] = {}
        self._finding = RuntimeFinder(drivers)
        self._watched: set[str] = set()
        self._untaken: dict[str, frames.Ordered] = {}
        self._starting: set[str] = set()
        """Runs whose start is being carried out; their agents may still be at the end of something else."""
        self._pace = TerminalPacer()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_unneeded = False
        self._is_stopping = False
        self.is_dismissed = False
        self._running: asyncio.Task[Any] | None = None
        self._has_joined = False
        self._attempt = 0
        self._complaint = ""
        """Why the hub could not be reached last, which is printed once."""
        self._alone_since = time.monotonic()

    async def run(self) -> None:
        """Hold agents for the hub; returns when a local node has nothing to hold and no hub."""
        self._running = asyncio.current_task()
        become_subreaper()
        if sys.version_info < (3, 12):  # later ones do so by themselves: no thread for each process
            watcher = asyncio.PidfdChildWatcher()
            watcher.attach_loop(asyncio.get_running_loop())
            asyncio.get_event_loop_policy().set_child_watcher(watcher)
        await asyncio.to_thread(end_tree, build_family_mark(self._folder))  # what an earlier boot has left
        await asyncio.to_thread(remove_leftover_files, self._folder)
        await self._finding.find_more(time.monotonic())
        await self._passage.open()
        looking = asyncio.create_task(self._tick())
        try:
            while not self._may_go():
                await self._hold_link()
        finally:
            looking.cancel()
            await self._stop()

    def stop(self) -> None:
        """End soon. A cancellation alone is lost when the link ends at the same moment."""
        self._is_stopping = True
        if self._running is not None:
            self._running.cancel()

    async def _hold_link(self) -> None:
        said = ""
        try:
            await self._link.hold()
        except NodeDismissed as no:
            said, self._is_stopping, self.is_dismissed = f"this node is dismissed: {no}", True, True
        except NodeRejected as no:
            said, self._is_unneeded = f"the hub does not take this node: {no}", True
            self._attempt = len(_RETRY_S)
        except (OSError, ValueError, msgspec.DecodeError) as error:
            lost = f"the connection to {self._link.url} is lost; agents keep working, and the node dials again"
            said = f"{lost if self._has_joined and not self._attempt else 'the hub cannot be reached'}: {error}"
        for agent_id in tuple(self._watched):
            self._watch(agent_id, on=False)
        if self._attempt == 0 or said != self._complaint:
            logger.warning("%s", said)
        self._complaint = said
        self._alone_since = time.monotonic() if self._attempt == 0 else self._alone_since
        await asyncio.sleep(_RETRY_S[min(self._attempt, len(_RETRY_S) - 1)] * random.uniform(0.5, 1.0))  # noqa: S311
        self._attempt += 1

    def _may_go(self) -> bool:
        if self._is_stopping:
            return True
        if not self._local or not all(agent.is_gone for agent in self._agents.values()):
            return False
        return self._is_unneeded or time.monotonic() - self._alone_since > _ALONE_S

    async def _stop(self) -> None:
        """End every agent, and whatever else is left."""
        await asyncio.gather(*(agent.close() for agent in self._agents.values()))
        for task in tuple(self._tasks):
            task.cancel()
        await self._passage.close()
        await asyncio.to_thread(end_tree, build_family_mark(self._folder))
        self._outbox.close()

    async def _find_more(self) -> None:
        """Look for a runtime that was installed since: the hub learns of it with a new greeting."""
        if await self._finding.find_more(time.monotonic()):
            logger.info("found: %s", ", ".join(self._finding.found))
            await self._link.redial()

    def _hello(self) -> frames.Hello:
        return frames.Hello(
            version=frames.LINK_VERSION,
            boot=self._boot,
            labels=self._labels,
            capacity=self._capacity,
            drivers=dict(self._finding.found),
            live=sorted(self._find_live_runs()),
            newest=self._outbox.newest,
            acked=self._outbox.acked,
        )

    def _find_live_runs(self) -> set[str]:
        return self._starting | {agent.run_id for agent in self._agents.values() if agent.run_id is not None}

    def _find_agents_at(self, run_id: str) -> Iterator[HeldAgent]:
        return (agent for agent in self._agents.values() if agent.run_id == run_id)

    def _on_welcome(self, welcome: frames.Welcome) -> None:
        how = "joined again" if self._has_joined else "joined"
        logger.info("%s: node '%s' is connected to the hub at %s", how, welcome.name or welcome.node, self._link.url)
        self._has_joined = True
        self._is_unneeded = False
        self._attempt = 0
        self._untaken.clear()  # the hub gives them again

    def _on_frame(self, frame: frames.FromHub) -> None:
        match frame:
            case frames.Ordered():
                self._take(frame)
            case frames.Watch():
                self._watch(frame.agent, on=frame.on)
            case frames.TerminalInput():
                if frame.agent in self._agents:
                    self._agents[frame.agent].terminal.handle_input(frame)
            case frames.Look():
                self._do(self._look_at(frame))
            case frames.Stopping():
                self._is_unneeded = True
            case _:
                pass

    def _take(self, order: frames.Ordered) -> None:
        """Store an order and carry it out; one that the disk does not take is tried again, and not acknowledged."""
        is_untaken = order.id in self._untaken
        if self._link.may_be_late(order):  # the hub says over a new connection what holds now
            self._untaken.pop(order.id, None)
            self._do(self._link.redial())
            return
        try:
            is_new = self._outbox.keep_order(order)
        except OSError:
            self._untaken[order.id] = order
            is_cancel = isinstance(order.work, orders.CancelOrder)
            if is_cancel and not is_untaken:  # which waits for no disk, and may be done twice
                self._do(self._carry_out(order))
            return
        self._untaken.pop(order.id, None)
        if is_new:
            self._starting |= {order.run} if isinstance(order.work, orders.StartOrder) else set()
            self._do(self._carry_out(order))
        elif isinstance(order.work, orders.StartOrder) and order.run not in self._find_live_runs():
            self._tell(order.run, reports.RunLost())  # with an earlier boot; nobody receives it for a run that is over
        self._link.send_soon(frames.Taken(orders=[order.id]))

    async def _look_at(self, wish: frames.Look) -> None:
        self._link.send_soon(await check_profile(wish, self._drivers, dict(os.environ), self._folder))

    def _do(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _carry_out(self, order: frames.Ordered) -> None:
        agent = self._agents.get(order.agent) or next(self._find_agents_at(order.run), None)
        what = orders.get_order_name(order.work)
        try:
            match order.work:
                case orders.StartOrder():
                    await self._start(order, order.work)
                case orders.UnknownOrder(what="start"):
                    self._tell(order.run, reports.Died(None, f"it cannot be read: {order.work.problem}"))
                case orders.UnknownOrder():
                    logger.warning("order %s (%s) cannot be read: %s", order.id, what, order.work.problem)
                case _ if agent is None:
                    logger.info("order %s (%s) finds no agent", order.id, what)
                case _:
                    await pass_order_on(agent, order.run, order.work)
        except OSError as error:
            logger.info("order %s (%s): the agent's process is gone: %s", order.id, what, error)
        except Exception:
            logger.exception("order %s (%s) could not be carried out", order.id, what)
        finally:
            if isinstance(order.work, orders.StartOrder):
                self._starting.discard(order.run)

    async def _start(self, order: frames.Ordered, work: orders.StartOrder) -> None:
        driver = self._drivers.get(work.definition.driver)
        if driver is None:
            self._tell(order.run, reports.Died(None, "this node has no such driver"))
            return
        agent = self._agents.get(order.agent)
        if agent is None:
            agent = HeldAgent(order.agent, self._folder, self._tell, self._show, self._outbox.wait_for_room, self._pace)
            self._agents[order.agent] = agent
            agent.terminal.expect()
            if order.agent in self._watched:
                await agent.terminal.watch(on=True)
        given = LaunchContext(
            dict(os.environ), f"{self._passage.url}/mcp", self._link.url, self._passage.watch_tools_list
        )
        launch = Launch(order.run, work, order.token, order.credential)
        await agent.start(launch, driver, given, lambda: self._outbox.is_cancelled(order.run))

    def _tell(self, run_id: str, report: reports.Report) -> None:
        """Keep an item until the hub has received it."""
        self._outbox.add(run_id, time.time_ns() // 1_000_000, redact_tokens(report))
        self._link.wake()

    def _show(self, agent_id: str, kind: frames.LiveKind, data: Any) -> bool:
        """Show something to current viewers; False when the hub is slow, and it is dropped."""
        if agent_id not in self._watched or not self._link.is_up:
            return True
        return self._link.show(frames.Live(agent=agent_id, kind=kind, data=data))

    def _watch(self, agent_id: str, *, on: bool) -> None:
        """Somebody watches an agent, or nobody does any more."""
        (self._watched.add if on else self._watched.discard)(agent_id)
        agent = self._agents.get(agent_id)
        if agent is not None:
            self._do(agent.terminal.watch(on))
        elif on:
            self._show(agent_id, "absent", None)

    async def _tick(self) -> None:
        """Every second: reap processes, write pending items, end idle agents, forget those that are gone."""
        forgotten, finding = -_FORGET_S, None
        while True:
            reap()
            self._outbox.write()
            for order in tuple(self._untaken.values()):
                self._take(order)
            now = time.monotonic()
            for agent in tuple(self._agents.values()):
                if agent.is_gone:
                    del self._agents[agent.agent_id]
                elif agent.is_idle and now - agent.idle_since > agent.idle_s:
                    self._do(agent.close(if_idle=True))
            if self._finding.is_due(now) and (finding is None or finding.done()):
                finding = self._do(self._find_more())
            if now - forgotten > _FORGET_S:
                self._outbox.forget_orders()
                forgotten = now
            await asyncio.sleep(_LOOK_S)
