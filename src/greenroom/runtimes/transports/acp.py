"""The Agent Client Protocol on a child's pipes: requests by its SDK, everything the agent says in strict order.

The SDK would answer an agent's requests in tasks of their own, drop messages that do not fit its schema, and start
processes with traps (environment, stderr, groups). So it only sends requests here and matches their answers; what an
agent sends by itself is handed on as it comes, before anything that follows it is read.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from acp.connection import Connection
from acp.exceptions import RequestError

from greenroom.runtimes.contract import Process

Json = dict[str, Any]
Told = Callable[[str, Json, Any], None]
"""Called with method, parameters, and the id to answer to; None for a notification."""
METHOD_NOT_FOUND = -32601
logger = logging.getLogger(__name__)


class AcpFailed(Exception):
    """The agent has answered a request with an error; the message is a sentence for people."""

    def __init__(self, error: RequestError) -> None:
        super().__init__(_format_error(error))
        self.code = error.code
        self.data: Any = error.data


class AcpLink:
    """One agent at the other end of a process's pipes."""

    def __init__(self, process: Process, told: Told, room: Callable[[], Awaitable[None]]) -> None:
        self._process = process
        self._told = told
        self._room = room
        self.ended = asyncio.Event()
        self._connection = Connection(_reject_request, self)

    async def request(self, method: str, params: Json) -> Json:
        """Ask the agent. Raises AcpFailed for its refusal, ConnectionError when it is gone."""
        try:
            answer = await self._connection.send_request(method, params)
        except RequestError as error:
            raise AcpFailed(error) from None
        return answer if isinstance(answer, dict) else {}

    async def notify(self, method: str, params: Json) -> None:
        """Tell the agent. Raises ConnectionError when it is gone."""
        await self._connection.send_notification(method, params)

    async def answer(self, request: Any, result: Json) -> None:
        """Answer what the agent has asked. Raises ConnectionError when it is gone."""
        await self.send({"jsonrpc": "2.0", "id": request, "result": result})

    async def refuse(self, request: Any, code: int, message: str) -> None:
        """Say no to what the agent has asked. Raises ConnectionError when it is gone."""
        await self.send({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})

    async def hang_up(self) -> None:
        """Stop listening; requests that are open fail."""
        await self._connection.close()

    async def send(self, message: Json) -> None:
        """Part of what the SDK needs from a transport."""
        await self._process.write(msgspec.json.encode(message) + b"\n")

    async def receive(self) -> Json | None:
        """Part of what the SDK needs from a transport: the next answer; the rest is handed on from here."""
        # Whoever waits for the last answer comes first, before anything that the agent has said after it.
        await asyncio.sleep(0)
        while True:
            await self._room()
            line = await self._process.read_line()
            if not line:
                self.ended.set()
                return None
            message = _parse_message(line)
            if message is None:
                continue
            method = message.get("method")
            if not isinstance(method, str):
                return message
            params = message.get("params")
            self._told(method, params if isinstance(params, dict) else {}, message.get("id"))

    async def close(self) -> None:
        """Part of what the SDK needs from a transport; the process is ended by its owner."""


async def _reject_request(method: str, params: Any, is_notification: bool) -> Any:
    raise RequestError.method_not_found(method)


def _parse_message(line: bytes) -> Json | None:
    """A line as a message. Some agents print to stdout; what is no message is not for us."""
    try:
        message = msgspec.json.decode(line)
    except msgspec.DecodeError:
        if line.strip():
            logger.info("not a message: %s", line[:200])
        return None
    return message if isinstance(message, dict) else None


def _unwrap_error(text: str) -> str:
    """The words in an answer of a model's API, which some agents hand on as it came."""
    with contextlib.suppress(msgspec.DecodeError):
        match msgspec.json.decode(text):
            case {"error": {"message": str(words)}} if words:
                return words
    return text


def _format_error(error: RequestError) -> str:
    """What an error says, with the details that agents hide in its data."""
    data = error.data
    details = data.get("details") or data.get("message") if isinstance(data, dict) else data
    text = _unwrap_error(str(error))
    return f"{text}: {details}" if isinstance(details, str) and details and details not in text else text
