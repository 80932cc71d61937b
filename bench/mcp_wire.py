"""The few calls of an MCP client over streamable HTTP that the load generator needs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from bench.wire import Client, Reply, WireError

PROTOCOL = "2025-11-25"


class _Block(msgspec.Struct):
    text: str = ""


class _Result(msgspec.Struct):
    content: list[_Block] = []
    isError: bool = False  # the wire's name


class _Envelope(msgspec.Struct):
    result: _Result | None = None
    error: dict[str, Any] | None = None


class Answer(NamedTuple):
    """What a tool said: the JSON of its first block, and whether the call itself failed."""

    value: Any
    failed: bool


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_text = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class McpSession:
    """One session on a connection of its own; calls follow one another."""

    def __init__(self, url: str, path: str, headers: Mapping[str, str]) -> None:
        self._client = Client(url)
        self._path = path
        self._headers = {
            **headers,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        self._head = b""
        self._last_id = 0

    async def open(self) -> "McpSession":
        params = {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        head = self._client.request_head("POST", self._path, self._headers)
        reply = await self._client.ask(head, _encode(body))
        session_id = reply.header("mcp-session-id")
        if reply.status != 200 or session_id is None:
            raise WireError(f"initialize: HTTP {reply.status} {reply.body[:200]!r}")
        self._headers |= {"mcp-session-id": session_id, "mcp-protocol-version": PROTOCOL}
        self._head = self._client.request_head("POST", self._path, self._headers)
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._client.ask(self._head, _encode(note))
        return self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        self._last_id += 1
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": self._last_id, "method": "tools/call", "params": params}
        return read_answer(await self._client.ask(self._head, _encode(body)))

    def close(self) -> None:
        self._client.close()


def read_answer(reply: Reply) -> Answer:
    if reply.status != 200:
        raise WireError(f"tools/call: HTTP {reply.status} {reply.body[:200]!r}")
    body = reply.body
    if not body.startswith(b"{"):  # the peer always answers with an event stream of one message
        start = body.rfind(b"data: ")
        body = body[start + 6 : body.find(b"\n", start)]
    envelope = _decode_envelope(body)
    if envelope.result is None:
        raise WireError(f"tools/call: {envelope.error}")
    text = envelope.result.content[0].text if envelope.result.content else "null"
    if envelope.result.isError:
        return Answer(text, True)
    return Answer(_decode_text(text), False)
