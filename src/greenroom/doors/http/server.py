"""uvicorn as a hub runs it: where it listens, its limits for unknown clients, and how it shuts down."""

import asyncio
import contextlib
import functools
import gc
import hashlib
import ipaddress
import logging
import resource
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from greenroom.doors.http.connection import Connection, PendingConnections
from greenroom.doors.http.websocket import WebSocket
from greenroom.services.hub import Hub
from greenroom.services.period import get_time_left_s
from greenroom.settings import BadSettings, Settings

_GRACE_S = 3
_DATE_UPDATE_S = 1.0
_MOST_DESCRIPTORS = 65_536
_KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 25_000}
"""A peer that vanished without a word, or takes nothing of what it was sent, is noticed within 25 s, where the system
lets us choose."""


def bind_socket(settings: Settings) -> socket.socket:
    """Open the listening socket. Beyond loopback it takes TLS, or a setting that allows plain text."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise BadSettings(f"The host {settings.host!r} cannot be found: {error}") from error
    family, _, _, _, address = found[0]
    is_local = _is_loopback(str(address[0]))
    if not is_local and settings.allow_anonymous_local:
        raise BadSettings("allow_anonymous_local works on loopback only: leave it out, or listen on 127.0.0.1.")
    if not is_local and not settings.tls_cert and not settings.allow_plaintext:
        raise BadSettings(
            f"{settings.host} is not this machine alone: set tls_cert and tls_key, or (on a network that you trust"
            " as a whole) allow_plaintext = true."
        )
    _need_tls_files(settings)
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise BadSettings(
            f"Port {settings.port} of {settings.host} cannot be used ({error.strerror}): choose another with --port."
        ) from error
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # connections inherit this and the following
    for name, value in _KEEP_ALIVE.items():
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    listener.listen(2048)
    return listener


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def is_exposed(settings: Settings) -> bool:
    """Whether the hub listens beyond loopback without TLS, as its operator has allowed."""
    if settings.tls_cert or not settings.allow_plaintext:
        return False
    found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    return not _is_loopback(str(found[0][4][0]))


def _need_tls_files(settings: Settings) -> None:
    if settings.tls_cert:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
        except OSError as error:
            raise BadSettings(
                f"tls_cert and tls_key cannot be used ({error}): name a certificate and its key."
            ) from error


def get_certificate_pin(settings: Settings) -> str | None:
    """The digest of the hub's own certificate, for nodes to recognise it by; None where it has none."""
    if settings.tls_cert is None:
        return None
    text = Path(settings.tls_cert).read_text()
    first = text[text.index(ssl.PEM_HEADER) : text.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()


def _raise_file_limit() -> int:
    """Take all the file descriptors that the system grants: every waiting agent is one. Returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, _MOST_DESCRIPTORS) if hard != resource.RLIM_INFINITY else _MOST_DESCRIPTORS
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def build_local_url(settings: Settings, port: int) -> str:
    """Where a program on this machine reaches the hub."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "localhost") else settings.host  # noqa: S104
    return f"{'https' if settings.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def build_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How uvicorn is set up."""
    logging.getLogger("uvicorn.error").addFilter(_is_unexpected)
    return uvicorn.Config(
        app,
        loop="none",
        http=functools.partial(Connection, PendingConnections(_raise_file_limit() // 2)),  # type: ignore[arg-type]
        ws=WebSocket,
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,  # what strangers send must not fill the log
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE_S,
        ws_max_size=1_048_576,
        ws_max_queue=64,
        ws_per_message_deflate=False,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )


_EXPECTED_MESSAGES = ("UTF-8 sequence received from client", "timeout graceful shutdown exceeded")


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Whether a record in uvicorn's log is worth reading.

    uvicorn also logs wrong bytes of a client, and calls that still wait when the hub stops. It closes the connection in
    both cases, which is all that has to happen.
    """
    return not any(words in str(record.msg) for words in _EXPECTED_MESSAGES)


class HubServer(uvicorn.Server):
    """uvicorn's server. It reports when it listens, and releases waiting calls when it stops."""

    def __init__(self, config: uvicorn.Config, hub: Hub, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._hub = hub
        self._on_started = on_started
        self._exiting = asyncio.Event()

    async def main_loop(self) -> None:
        """Wait for a signal, and watch the loop: from here on nothing may block it."""
        tasks = [asyncio.create_task(work) for work in (self._hub.loop_watch.run(), self._update_date())]
        await self._exiting.wait()
        for task in tasks:
            task.cancel()

    async def _update_date(self) -> None:
        """Update the Date header of answers once a second; uvicorn's own loop does so ten times a second."""
        while True:
            await self.on_tick(0)
            await asyncio.sleep(get_time_left_s(_DATE_UPDATE_S))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a first signal, at once on a second; either way the program continues to its clean end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._exiting.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        gc.collect()
        gc.freeze()  # modules stay, and going through them takes long
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.bus.waiters.release()
        self._hub.signals.emit("hub.stopping", {})
        await super().shutdown(sockets=sockets)
        if unfinished := list(self.server_state.tasks):  # calls that did not end in time: nothing may outlive the log
            for task in unfinished:
                task.cancel()
            await asyncio.wait(unfinished, timeout=_GRACE_S)
