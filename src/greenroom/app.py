"""The composition root: puts nouns, log and doors together, and runs them."""

import asyncio
import contextlib
import hashlib
import importlib.util
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.types import ASGIApp

from greenroom.doors import router
from greenroom.doors.guard import Guard
from greenroom.doors.login import LoginCodes
from greenroom.doors.origins import Origins
from greenroom.doors.server import HubServer, bind_socket, build_config, build_local_url, get_certificate_pin
from greenroom.gateway.agent_services import run_agent_services
from greenroom.hub import Hub
from greenroom.log import failpoints
from greenroom.log.clock import Clock, HubClock
from greenroom.log.data_directory import (
    HUB_FILE,
    HUB_ID,
    OPERATOR_TOKEN,
    StoreUnusable,
    acquire_directory,
    write_private,
)
from greenroom.log.errors import Unavailable
from greenroom.log.leadership import run_while_leader
from greenroom.log.log import Log
from greenroom.log.past_hubs import PastHubs, need_no_lost_hub
from greenroom.log.reactors import run_reactor
from greenroom.log.rebuild import ensure_rows
from greenroom.log.signals import Signals
from greenroom.log.store_factory import open_blobs, open_store
from greenroom.nouns.access.model import HUB, OWNER, CreateCredential
from greenroom.nouns.access.queries import get_principal
from greenroom.nouns.access.tokens import new_token
from greenroom.nouns.agents.presence import Presence
from greenroom.nouns.asks.ask_service import AskService
from greenroom.nouns.asks.queries import is_file_named
from greenroom.nouns.clock.timekeeper import Timekeeper
from greenroom.nouns.policy.rule_set import get_rule_set
from greenroom.nouns.registry import NOUNS as NOUNS
from greenroom.nouns.threads.bus import Bus
from greenroom.nouns.threads.coordinator import Coordinator
from greenroom.nouns.threads.deliveries import Deliveries
from greenroom.nouns.threads.file_cleanup import build_file_cleanup
from greenroom.nouns.threads.waiters import Waiters
from greenroom.nouns.workflows.engine.engine import Engine
from greenroom.nouns.workflows.engine.hub_executor import HubExecutor
from greenroom.nouns.workflows.engine.messages import build_message_reactor
from greenroom.nouns.workflows.triggers.trigger_watch import LOOK_S, CronTimer, build_trigger_reactor
from greenroom.settings import DATABASE_FILE, Settings, resolve_state_dir

if TYPE_CHECKING:
    from greenroom.nouns.workflows.engine.shared_engine import SharedEngine

logger = logging.getLogger(__name__)
_SWEEP_S = 5.0


@contextlib.asynccontextmanager
async def open_hub(
    data: Path,
    settings: Settings,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
    past: PastHubs | None = None,
) -> AsyncIterator[Hub]:
    """A running hub without doors: its log, its reactors and its timers.

    With `past` a new log is begun only where there was none before.
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
    log.subscribe(waiters.on_commit)
    blobs = open_blobs(data, settings, lambda name: is_file_named(log.rows, name))
    bus = Bus(log, blobs, presence, waiters, deliveries, settings.inline_content_chars)
    hub = Hub(
        settings,
        data,
        _load_instance_name(data, store.is_shared),
        store,
        log,
        blobs,
        signals,
        presence,
        bus,
        AskService(log),
    )
    coordinator = Coordinator(log, presence, waiters)
    shared = _build_shared_engine(hub)
    writer = asyncio.create_task(log.run(), name="log writer")
    try:
        await _ensure_operator(hub)
        async with asyncio.TaskGroup() as tasks:
            background = [
                tasks.create_task(store.listen(hub.instance), name="other hubs"),
                tasks.create_task(deliveries.run(), name="deliveries"),
                tasks.create_task(hub.refusals.run(), name="refusals"),
                tasks.create_task(timekeeper.run(), name="time"),
                tasks.create_task(_run_every(_SWEEP_S, Sweep(hub).sweep), name="sweep"),
                tasks.create_task(
                    run_while_leader(
                        store,
                        "hub",
                        lambda: [timekeeper.run_as_leader(), *_build_leader_tasks(hub, coordinator, shared)],
                    ),
                    name="lead",
                ),
            ]
            if shared is not None:
                background.append(tasks.create_task(shared.run(), name="attempts"))
            try:
                yield hub
            finally:
                for task in background:
                    task.cancel()
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


def _build_shared_engine(hub: Hub) -> "SharedEngine | None":
    """The engine of several hubs, where the log may have several; what it needs is loaded only then."""
    if hub.settings.database is None:
        return None
    if importlib.util.find_spec("dbos") is None:
        raise StoreUnusable(
            "Workflows on a shared database need what comes with the extra postgres: install greenroom[postgres]."
        )
    from greenroom.nouns.workflows.engine.shared_engine import SharedEngine

    return SharedEngine(
        hub.log, HubExecutor(hub.log, hub.data), hub.settings.database, hub.instance, hub.reactor_errors
    )


def _build_leader_tasks(
    hub: Hub, coordinator: Coordinator, shared: "SharedEngine | None"
) -> list[Coroutine[Any, Any, None]]:
    """What one hub does for all that share the log."""
    log, errors = hub.log, hub.reactor_errors
    return [
        *(shared.find_duties() if shared else [Engine(log, HubExecutor(log, hub.data), errors).run()]),
        _run_every(hub.settings.coordinator_s, coordinator.check_threads),
        run_reactor(log, build_file_cleanup(log.rows, hub.blobs), errors),
        run_reactor(log, build_message_reactor(log), errors),
        run_reactor(log, build_trigger_reactor(log), errors),
        _run_every(LOOK_S, CronTimer(log).start_due),
    ]


def _unwrap_single_error(error: BaseException) -> BaseException:
    """An error that task groups have wrapped, itself again unless there are several."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _load_instance_name(data: Path, is_shared: bool) -> str:
    """The hub's name; among several on a database it is kept, for directories on two machines may have one path."""
    if not is_shared:
        return hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:8]
    path = data / HUB_ID
    if not path.exists():
        _write_private_file(path, secrets.token_hex(4) + "\n")
    return path.read_text().strip()


async def _run_every(every_s: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something every few seconds. When it fails it is done again the next time, and the hub goes on."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
        except Unavailable as no:
            logger.warning("%s must wait: %s", work.__qualname__, no)
        except Exception:
            logger.exception("%s failed", work.__qualname__)


class Sweep:
    """What is done every few seconds: see who has gone silent, write which logins were used, forget old keys."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._forget_at = time.monotonic()

    async def sweep(self) -> None:
        self._hub.presence.sweep()
        self._hub.bus.waiters.forget_left()
        await self._hub.login_uses.flush()
        if time.monotonic() >= self._forget_at:
            keep_ms = self._hub.settings.command_memory_days * 86_400_000
            await self._hub.store.forget_commands(self._hub.log.clock.now() - keep_ms)
            self._forget_at = time.monotonic() + 3600


async def _ensure_operator(hub: Hub) -> None:
    """There is always an operator's token in the data directory, readable by its owner only."""
    path = hub.data / OPERATOR_TOKEN
    if path.exists():
        path.chmod(0o600)
        text = path.read_text(errors="replace").strip()
        if text and get_principal(hub.rows, text, hub.log.clock.now()) is not None:
            return
    token = new_token("operator")
    await hub.log.do(
        CreateCredential(
            by=HUB,
            credential_id=token.credential_id,
            kind="operator",
            name="operator",
            digest=token.digest,
            person_id=OWNER,
        )
    )
    _write_private_file(path, token.text + "\n")


def _write_private_file(path: Path, text: str) -> None:
    try:
        write_private(path, text)
    except OSError as error:
        raise StoreUnusable(f"{path} cannot be written ({error.strerror}): see to that, and start again.") from error


@contextlib.asynccontextmanager
async def open_doors(hub: Hub, port: int, codes: LoginCodes) -> AsyncIterator[ASGIApp]:
    """The application: every door behind the guard."""
    async with router.build_app(hub, codes) as (app, endpoints):
        yield Guard(app, hub, Origins(hub.settings, port), endpoints)


async def serve(
    data: Path,
    settings: Settings,
    ready: Callable[[str, str], None],
    progress: Callable[[int, int], None] | None = None,
    *,
    is_new: bool = False,
) -> None:
    """Run the hub with all its doors until a signal; `ready` is told the address and a one-time login code.

    `progress` is told how far a rebuild of the rows has come, when an upgrade makes one necessary. With `is_new` a hub
    is begun even where there was one whose log is gone.
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
                async with run_agent_services(hub), open_doors(hub, port, codes) as app:
                    server = HubServer(build_config(app, settings), hub, lambda: _announce(hub, url, codes, ready))
                    await server.serve(sockets=[listener])
            finally:
                (data / HUB_FILE).unlink(missing_ok=True)
    finally:
        listener.close()


def _announce(hub: Hub, url: str, codes: LoginCodes, ready: Callable[[str, str], None]) -> None:
    others = hub.settings.other_hubs
    whereabouts = {"url": url, "pid": os.getpid(), "pin": get_certificate_pin(hub.settings), "others": others}
    _write_private_file(hub.data / HUB_FILE, msgspec.json.encode(whereabouts).decode())
    if hub.settings.database is not None:  # for `greenroom check` from a shell that does not know the setting
        _write_private_file(hub.data / DATABASE_FILE, hub.settings.database + "\n")
    else:
        (hub.data / DATABASE_FILE).unlink(missing_ok=True)
    ready(url, codes.issue(OWNER, "operator"))
