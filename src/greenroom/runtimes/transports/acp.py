"""The Agent Client Protocol on a child's pipes: requests with their answers, and all messages of the agent, in order.

The protocol's SDK is not used. It answers an agent's requests in tasks of their own, drops messages that do not fit its
schema, and takes three quarters of a second of processor time to import. Here each message is handed on before the next
one is read.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import Process

MessageHandler = Callable[[str, JsonObject, Any], None]
"""Called with method, parameters, and the id to answer to; None for a notification."""
METHOD_NOT_FOUND = -32601
logger = logging.getLogger(__name__)


class AcpError(Exception):
    """The agent has answered a request with an error; the message is a sentence for people."""

    def __init__(self, error: Any) -> None:
        fields: JsonObject = error if isinstance(error, dict) else {}
        self.data: Any = fields.get("data")
        super().__init__(_format_error(str(fields.get("message", "Error")), self.data))
        self.code = fields.get("code")


class AcpConnection:
    """One agent at the other end of a process's pipes."""

    def __init__(
        self, process: Process, handle_message: MessageHandler, wait_for_room: Callable[[], Awaitable[None]]
    ) -> None:
        self._process = process
        self._handle_message = handle_message
        self._wait_for_room = wait_for_room
        self.ended = asyncio.Event()
        self._pending: dict[int, asyncio.Future[JsonObject | None]] = {}
        """Requests without an answer so far. The answer is None when the agent is gone."""
        self._last_id = -1
        self._reader = asyncio.create_task(self._read())

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the agent. Raises AcpError for its refusal, ConnectionError when it is gone."""
        self._last_id += 1
        request = self._last_id
        answered: asyncio.Future[JsonObject | None] = asyncio.get_running_loop().create_future()
        self._pending[request] = answered
        try:
            await self._send({"jsonrpc": "2.0", "id": request, "method": method, "params": params})
            message = await answered
        finally:
            del self._pending[request]
        if message is None:
            raise ConnectionError("the agent is gone")
        if "error" in message and "result" not in message:
            raise AcpError(message["error"])
        result = message.get("result")
        return result if isinstance(result, dict) else {}

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. Raises ConnectionError when the agent is gone."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def answer(self, request: Any, result: JsonObject) -> None:
        """Answer what the agent has asked. Raises ConnectionError when it is gone."""
        await self._send({"jsonrpc": "2.0", "id": request, "result": result})

    async def refuse(self, request: Any, code: int, message: str) -> None:
        """Say no to what the agent has asked. Raises ConnectionError when it is gone."""
        await self._send({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})

    async def close(self) -> None:
        """Stop listening; requests that are open fail."""
        self._reader.cancel()
        await asyncio.wait([self._reader])

    async def _send(self, message: JsonObject) -> None:
        if self._reader.done():
            raise ConnectionError("the agent is gone")
        await self._process.write(msgspec.json.encode(message) + b"\n")

    async def _read(self) -> None:
        try:
            while True:
                await self._wait_for_room()
                line = await self._process.read_line()
                if not line:
                    self.ended.set()
                    return
                message = _parse_message(line)
                if message is not None and not self._dispatch(message):
                    # Whoever waits for this answer comes first, before anything that the agent has said after it.
                    await asyncio.sleep(0)
        except Exception:
            logger.exception("reading what the agent says failed")
        finally:
            for answered in self._pending.values():
                if not answered.done():
                    answered.set_result(None)

    def _dispatch(self, message: JsonObject) -> bool:
        """Pass a message to its handler, or an answer to the request that waits for it. False for an answer."""
        method, id = message.get("method"), message.get("id")
        if isinstance(method, str):
            params = message.get("params")
            self._handle_message(method, params if isinstance(params, dict) else {}, id)
            return True
        answered = self._pending.get(id) if isinstance(id, int) else None
        if answered is not None and not answered.done():
            answered.set_result(message)
        return False


def _parse_message(line: bytes) -> JsonObject | None:
    """A line as a message. Some agents print to stdout; what is no message is not for us."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if line.strip():
            logger.info("not a message: %s", line[:200])
        return None
    return message if isinstance(message, dict) else None


def _unwrap_error(text: str) -> str:
    """The words in an answer of a model's API, which some agents hand on as it came."""
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        match msgspec.json.decode(text):
            case {"error": {"message": str(words)}} if words:
                return words
    return text


def _format_error(message: str, data: Any) -> str:
    """What an error says, with the details that agents hide in its data."""
    details = data.get("details") or data.get("message") if isinstance(data, dict) else data
    text = _unwrap_error(message)
    return f"{text}: {details}" if isinstance(details, str) and details and details not in text else text
