"""One connection to an MCP server through the SDK's client, in its own module because the SDK is slow to import."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from greenroom.rules.servers.model import McpServer
from greenroom.runtimes.process_trees import build_family_mark
from greenroom.services.tool_http import limit_response
from greenroom.services.tool_pipes import open_pipes
from greenroom.services.tool_servers import need_secret, need_server_program

_CONNECT_S = 60.0
_MOST_A_SECOND = 500
"""A server that sends more is read later."""


@asynccontextmanager
async def open_client(
    server: McpServer, folder: Path, ended: asyncio.Event, changed: asyncio.Event
) -> AsyncIterator[Client]:
    """A client of the server. `ended` is set when the server goes away, `changed` when it says its tools have."""

    async def hear(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with AsyncExitStack() as stack:
        transport = _watch_transport(await _open_transport(stack, server, folder), ended)
        client = Client(transport, message_handler=hear, cache=None)
        async with asyncio.timeout(_CONNECT_S):
            await stack.enter_async_context(client)
        yield client


async def _open_transport(stack: AsyncExitStack, server: McpServer, folder: Path) -> Any:
    definition = server.definition
    secrets = {name: await asyncio.to_thread(need_secret, one) for name, one in definition.secrets.items()}
    if definition.url is not None:
        timeout = httpx2.Timeout(10.0, read=None, pool=None)  # a tool may take its time
        headers = {"accept-encoding": "identity", **secrets}
        hooks = {"response": [limit_response]}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks))
        return streamable_http_client(definition.url, http_client=http)
    folder.mkdir(mode=0o700, exist_ok=True)
    words = stack.enter_context((folder / f"{server.name}.log").open("w"))
    command = [need_server_program(definition), *definition.command[1:]]
    mark = f"{build_family_mark(folder)}.{server.name}"
    return open_pipes(command, {**definition.env, **secrets}, definition.directory or folder, words, mark)


@asynccontextmanager
async def _watch_transport(transport: Any, ended: asyncio.Event) -> AsyncIterator[Any]:
    """The same transport; its end is reported, even when nobody waits for an answer."""
    async with transport as (read, write):
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pass_on() -> None:
            since, count = anyio.current_time(), 0
            async with send:
                async for message in read:
                    await send.send(message)
                    count += 1
                    if count >= _MOST_A_SECOND:
                        await anyio.sleep(max(0.0, since + 1 - anyio.current_time()))
                        since, count = anyio.current_time(), 0
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pass_on)
            yield receive, write
            tasks.cancel_scope.cancel()
