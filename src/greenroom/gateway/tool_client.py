"""One connection to an MCP server through the SDK's client; apart, because importing the SDK takes its time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from greenroom.gateway.tool_servers import program_of, secret_of
from greenroom.nouns.servers.model import Server

_CONNECT_S = 60.0


@asynccontextmanager
async def open_client(
    server: Server, folder: Path, ended: asyncio.Event, changed: asyncio.Event
) -> AsyncIterator[Client]:
    """A client of the server. `ended` is set when the server goes away, `changed` when it says its tools have."""

    async def hear(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with AsyncExitStack() as stack:
        transport = _noticing(await _transport(stack, server, folder), ended)
        client = Client(transport, message_handler=hear, cache=None)
        async with asyncio.timeout(_CONNECT_S):
            await stack.enter_async_context(client)
        yield client


async def _transport(stack: AsyncExitStack, server: Server, folder: Path) -> Any:
    definition = server.definition
    secrets = {name: await asyncio.to_thread(secret_of, one) for name, one in definition.secrets.items()}
    if definition.url is not None:
        timeout = httpx2.Timeout(10.0, read=None, pool=None)  # a tool may take its time
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=secrets, timeout=timeout))
        return streamable_http_client(definition.url, http_client=http)
    folder.mkdir(mode=0o700, exist_ok=True)
    words = stack.enter_context((folder / f"{server.name}.log").open("w"))
    parameters = StdioServerParameters(
        command=program_of(definition),
        args=definition.command[1:],
        env={**definition.env, **secrets},
        cwd=definition.directory or folder,
    )
    return stdio_client(parameters, errlog=words)


@asynccontextmanager
async def _noticing(transport: Any, ended: asyncio.Event) -> AsyncIterator[Any]:
    """The same transport; its end is told of, even when nobody waits for an answer."""
    async with transport as (read, write):
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pass_on() -> None:
            async with send:
                async for message in read:
                    await send.send(message)
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pass_on)
            yield receive, write
            tasks.cancel_scope.cancel()
