"""The app server's socket: Codex serves its protocol there over WebSocket, to any number of clients."""

import asyncio
from pathlib import Path

from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from greenroom.runtimes.contract import Process

_MESSAGE = 64 * 1024 * 1024
_POLL_S = 0.05


class SocketLines:
    """One client's end of it, for JsonLines."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def read_line(self) -> bytes:
        """The next message; empty at the end."""
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed:
            return b""

    async def write(self, data: bytes) -> None:
        """Raises ConnectionError when the server is gone."""
        try:
            await self._connection.send(data.decode())
        except ConnectionClosed as closed:
            raise ConnectionError("the app server is gone") from closed


async def connect(path: Path, process: Process) -> SocketLines:
    """Connect as soon as the server listens. Raises ConnectionError when it ends instead."""
    gone = asyncio.create_task(process.wait())
    try:
        while not gone.done():
            try:
                made = await unix_connect(
                    str(path), uri="ws://localhost/", max_size=_MESSAGE, compression=None, ping_interval=None
                )
                return SocketLines(made)
            except (OSError, InvalidHandshake):
                await asyncio.wait({gone}, timeout=_POLL_S)
        raise ConnectionError("the app server ended before it listened")
    finally:
        gone.cancel()
