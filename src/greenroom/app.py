"""The composition root: builds the hub from nouns, log, services and doors, and runs it."""

import asyncio
import contextlib
import importlib.util
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.types import ASGIApp

from greenroom.clock import Clock, HubClock
from greenroom.doors import router
from greenroom.doors.http.guard import Guard
from greenroom.doors.http.origins import Origins
from greenroom.doors.http.server import HubServer, bind_socket, build_config, build_local_url, get_certificate_pin
from greenroom.doors.login import LoginCodes
from greenroom.log import failpoints
from greenroom.log.data_directory import HUB_FILE, StoreUnusable, acquire_directory
from greenroom.log.log import Log
from greenroom.log.past_hubs import PastHubs, need_no_lost_hub
from greenroom.log.reactors import EventReactor, run_reactor
from greenroom.log.rebuild import ensure_rows
from greenroom.log.signals import Signals
from greenroom.log.store_factory import open_blobs, open_store
from greenroom.rules.access.model import OWNER_ID
from greenroom.rules.asks.queries import is_file_in_use
from greenroom.rules.channels.model import CHANNELS
from greenroom.rules.clock.model import ClockMoved
from greenroom.rules.policy.rule_set import get_rule_set
from greenroom.rules.registry import NOUNS as NOUNS
from greenroom.rules.servers.commands import ServerPut, ServerRemoved
from greenroom.services.agent_services import build_agent_services
from greenroom.services.ask_service import AskService
from greenroom.services.bus import Bus
from greenroom.services.connections import Connections
from greenroom.services.coordinator import Coordinator
from greenroom.services.deliveries import Deliveries
from greenroom.services.file_cleanup import build_file_cleanup
from greenroom.services.hub import Hub
from greenroom.services.hub_identity import ensure_operator, load_instance_name, write_private_file
from greenroom.services.presence import Presence
from greenroom.services.program_watch import ProgramWatch
from greenroom.services.service import Service, run_services
from greenroom.services.sweep import SWEEP_S, Sweep, run_every
from greenroom.services.timekeeper import Timekeeper
from greenroom.services.trigger_watch import LOOK_S, CronTimer, build_trigger_reactor
from greenroom.services.waiters import WAKING, Waiters
from greenroom.services.workflow_engine.engine import Engine
from greenroom.services.workflow_engine.hub_executor import HubExecutor
from greenroom.services.workflow_engine.messages import build_message_reactor
from greenroom.settings import DATABASE_FILE, Settings, resolve_state_dir

if TYPE_CHECKING:
    from greenroom.services.workflow_engine.shared_engine import SharedEngine


@contextlib.asynccontextmanager
async def open_hub(
    data: Path,
    settings: Settings,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
    past: PastHubs | None = None,
) -> AsyncIterator[Hub]:
    """A running hub without doors: its log, its reactors and its timers.

    With `past`, a new log is created only where there was none before.
    """
    failpoints.arm(settings.failpoint)
    store = open_store(data, settings, NOUNS)
    if past is not None and store.head() == 0:
        try:
            need_no_lost_hub(data, past)
        except StoreUnusable:
            await store.close()
            raise
    with store.convert_database_errors():
        ensure_rows(store, NOUNS, progress)
        newest = store.events(store.head() - 1, 1)
    clock = clock or HubClock(store.wall_time, newest[0].at if newest else 0)
    log = Log(store, NOUNS, settings, clock)
    timekeeper = Timekeeper(log, clock)
    signals = Signals()
    presence = Presence(clock, signals, settings.online_s)
    waiters = Waiters(clock, presence, settings.max_waits_per_agent)
    deliveries = Deliveries(log)
    store.subscribe_to_others(log.announce)
    blobs = open_blobs(data, settings, lambda name: is_file_in_use(log.rows, name))
    bus = Bus(log, blobs, presence, waiters, deliveries, settings.inline_content_chars)
    hub = Hub(
        settings,
        data,
        load_instance_name(data, store.is_shared),
        store,
        log,
        blobs,
        signals,
        presence,
        bus,
        AskService(log),
    )
    shared = _build_shared_engine(hub)
    writer = asyncio.create_task(log.run(), name="log writer")
    try:
        await ensure_operator(hub)
        async with run_services(log, "hub", build_core_services(hub, timekeeper, shared)):
            yield hub
    except BaseExceptionGroup as several:
        raise _unwrap_single_error(several) from None
    finally:
        await deliveries.flush()
        await hub.refusals.flush()
        await hub.login_uses.flush()
        log.stop()
        await writer
        await store.close()
        blobs.close()


def build_core_services(hub: Hub, timekeeper: Timekeeper, shared: "SharedEngine | None") -> list[Service]:
    """What every hub runs, in the order in which it starts and receives commits."""
    log, bus = hub.log, hub.bus
    coordinator = Coordinator(log, hub.presence, bus.waiters)
    reactors = (build_file_cleanup(log.rows, hub.blobs), build_message_reactor(log), build_trigger_reactor(log))
    cron = CronTimer(log)
    return [
        Service("time", start=timekeeper.run, watches=(ClockMoved,), on_commit=timekeeper.on_commit),
        Service("waits", watches=WAKING, on_commit=bus.waiters.on_commit),
        Service("other hubs", start=lambda: hub.store.listen(hub.instance)),
        Service("deliveries", start=bus.deliveries.run),
        Service("refusals", start=hub.refusals.run),
        Service("sweep", start=lambda: run_every(SWEEP_S, Sweep(hub).sweep)),
        Service("jumps of the clock", start=timekeeper.run_as_leader, only_on_leader=True),
        *_build_workflow_services(hub, shared),
        Service(
            "coordinator",
            start=lambda: run_every(hub.settings.coordinator_s, coordinator.check_threads),
            only_on_leader=True,
        ),
        *(_build_reactor_service(hub, reactor) for reactor in reactors),
        Service("cron", start=lambda: run_every(LOOK_S, cron.start_due), only_on_leader=True),
    ]


def _build_reactor_service(hub: Hub, reactor: EventReactor) -> Service:
    return Service(reactor.name, start=lambda: run_reactor(hub.log, reactor, hub.reactor_errors), only_on_leader=True)


def _build_workflow_services(hub: Hub, shared: "SharedEngine | None") -> list[Service]:
    if shared is not None:
        return [
            Service("attempts", start=shared.run),
            Service("workflows", start=shared.lead, only_on_leader=True),
        ]
    executor = HubExecutor(hub.log, hub.data)
    return [
        Service("workflows", start=lambda: Engine(hub.log, executor, hub.reactor_errors).run(), only_on_leader=True)
    ]


def build_connection_services(hub: Hub, connections: Connections) -> list[Service]:
    """What keeps the hub's connections to others: MCP servers, notifications, nodes' programs."""
    servers, notifier = connections.servers, connections.notifier
    return [
        Service(
            "tool servers",
            prepare=servers.prepare,
            start=servers.run,
            watches=(ServerPut, ServerRemoved),
            on_commit=servers.on_commit,
        ),
        Service("notifications", start=notifier.run, watches=(CHANNELS,), on_commit=notifier.on_commit),
        Service("missing programs", start=ProgramWatch(hub, connections.links).run),
    ]


def _build_shared_engine(hub: Hub) -> "SharedEngine | None":
    """The engine of several hubs, if the log can have several; its packages are imported only then."""
    if hub.settings.database is None:
        return None
    if importlib.util.find_spec("dbos") is None:
        raise StoreUnusable(
            "Workflows on a shared database need what comes with the extra postgres: install greenroom[postgres]."
        )
    from greenroom.services.workflow_engine.shared_engine import SharedEngine

    return SharedEngine(
        hub.log, HubExecutor(hub.log, hub.data), hub.settings.database, hub.instance, hub.reactor_errors
    )


def _unwrap_single_error(error: BaseException) -> BaseException:
    """An error that task groups have wrapped, itself again unless there are several."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


@contextlib.asynccontextmanager
async def open_doors(hub: Hub, port: int, codes: LoginCodes) -> AsyncIterator[ASGIApp]:
    """The application: every door behind the guard."""
    connections = Connections(hub, hub.settings.public_url.rstrip("/") or build_local_url(hub.settings, port))
    async with (
        run_services(hub.log, "connections", build_connection_services(hub, connections)),
        router.build_app(hub, codes, connections) as (app, endpoints),
    ):
        yield Guard(app, hub, Origins(hub.settings, port), endpoints)


async def serve(
    data: Path,
    settings: Settings,
    ready: Callable[[str, str], None],
    progress: Callable[[int, int], None] | None = None,
    *,
    is_new: bool = False,
) -> None:
    """Run the hub with all its doors until a signal; `ready` gets the address and a one-time login code.

    `progress` reports how far a rebuild of the rows is, if an upgrade makes one necessary. With `is_new`, a hub is
    created even where the log of an earlier hub is missing.
    """
    past = PastHubs(resolve_state_dir() / "hubs")
    os.close(
        acquire_directory(data)
    )  # before the port is tried: if it is taken by the hub of this directory, that is what to say
    listener = bind_socket(settings)
    try:
        port = listener.getsockname()[1]
        settings = msgspec.structs.replace(settings, port=port)  # the port that was found, when any would do
        async with open_hub(data, settings, progress=progress, past=None if is_new else past) as hub:
            past.add(data)
            get_rule_set(hub.rows)  # hundreds of rules take a while to compile, and nobody waits yet
            url = build_local_url(settings, port)
            codes = LoginCodes()
            try:
                async with (
                    run_services(hub.log, "agents", build_agent_services(hub)),
                    open_doors(hub, port, codes) as app,
                ):
                    server = HubServer(build_config(app, settings), hub, lambda: _announce(hub, url, codes, ready))
                    await server.serve(sockets=[listener])
            finally:
                (data / HUB_FILE).unlink(missing_ok=True)
    finally:
        listener.close()


def _announce(hub: Hub, url: str, codes: LoginCodes, ready: Callable[[str, str], None]) -> None:
    others = hub.settings.other_hubs
    whereabouts = {"url": url, "pid": os.getpid(), "pin": get_certificate_pin(hub.settings), "others": others}
    write_private_file(hub.data / HUB_FILE, msgspec.json.encode(whereabouts).decode())
    if hub.settings.database is not None:  # for `greenroom check` from a shell that does not know the setting
        write_private_file(hub.data / DATABASE_FILE, hub.settings.database + "\n")
    else:
        (hub.data / DATABASE_FILE).unlink(missing_ok=True)
    ready(url, codes.issue(OWNER_ID, "operator"))
