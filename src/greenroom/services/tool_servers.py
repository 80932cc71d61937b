"""The hub's connections to registered MCP servers: kept open, checked for changed tools, and reopened."""

import asyncio
import hashlib
import logging
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom.errors import Unavailable
from greenroom.log.codec import encode
from greenroom.log.model import Commit
from greenroom.rules.access.model import HUB
from greenroom.rules.servers.commands import NoteServer, NoteTools
from greenroom.rules.servers.decide import MAX_TOOLS
from greenroom.rules.servers.model import SERVERS, DescribedTool, McpServer, ServerDefinition, ServerState
from greenroom.runtimes.process_trees import TREES_ARE_FOUND, build_family_mark, end_tree
from greenroom.sentences import Words, build_sentence
from greenroom.services.hub import Hub
from greenroom.services.sdk_import_lock import SDK_LOADING
from greenroom.services.service import raise_if_cancelled

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

logger = logging.getLogger(__name__)
_CONNECT_S = 60.0
_LOOK_S = 30.0
_FIRST_WAIT_S, _LONGEST_WAIT_S, _STEADY_S = 1.0, 60.0, 60.0
_REST_S, _LONGEST_REST_S = 1.0, 300.0
"""How long after a look the next one is taken at the earliest; longer for a server that changes its tools each time."""
_MOST_BYTES = 200_000
_MOST_BYTES_OF_ALL = 4_000_000
_PATIENCE_S = 10.0
LOGS = "servers"
_ERROR_CHARS = 500


class ServerError(ValueError):
    """A server cannot be reached; the sentence says why."""

    def __init__(self, key: str, /, **params: object) -> None:
        self.said = build_sentence(key, **params)
        super().__init__(str(self.said))


class ToolServers:
    """Every enabled server has a task that holds its connection; `run` is a task for as long as the hub serves."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._clients: dict[str, Client] = {}
        self._holding: dict[str, tuple[ServerDefinition, asyncio.Task[None]]] = {}
        self._changed = asyncio.Event()
        self._came = asyncio.Event()

    async def prepare(self) -> None:
        """Tidy up what a hub that was killed has left."""
        known = self._hub.rows.find(SERVERS)
        if known and TREES_ARE_FOUND:
            await asyncio.to_thread(end_tree, build_family_mark(self._hub.data / LOGS))
        for server in known:
            if server.state in ("up", "down"):  # as it was when the hub went down
                await self._note(server, "starting")

    async def run(self) -> None:
        """Hold what is registered, and let go of what is not any more, until cancelled."""
        try:
            while True:
                self._changed.clear()
                await self._hold_registered()
                await self._changed.wait()
        finally:
            tasks = [task for _, task in self._holding.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._holding.clear()

    async def call(self, server: str, tool: str, arguments: dict[str, Any], timeout_s: float) -> "CallToolResult":
        """Call a tool; Unavailable when its server is not there now, or goes away meanwhile."""
        from mcp import MCPError

        client = await self._get_client(server)
        if client is None:
            raise self._build_down(server)
        try:
            return await client.call_tool(tool, arguments, read_timeout_seconds=timeout_s)
        except (MCPError, OSError, RuntimeError) as error:
            raise Unavailable("server_failed", server=server, error=_explain_error(error)) from error

    async def _get_client(self, server: str) -> "Client | None":
        """The connection, if it is there or comes soon: an approved call is not lost to a server that is starting."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while server not in self._clients:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            return None
        return self._clients[server]

    def _build_down(self, server: str) -> Unavailable:
        row = self._hub.rows.get(SERVERS, server)
        if row is not None and row.error:
            return Unavailable("server_down.error", 5.0, server=server, error=row.error)
        return Unavailable("server_down", 5.0, server=server)

    def on_commit(self, commit: Commit) -> None:
        """A server was registered, changed or removed."""
        self._changed.set()

    async def _hold_registered(self) -> None:
        wanted = {server.name: server for server in self._hub.rows.find(SERVERS) if server.definition.enabled}
        for name, (definition, task) in list(self._holding.items()):
            if name not in wanted or wanted[name].definition != definition:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                del self._holding[name]
        for name, server in wanted.items():
            if name not in self._holding:
                task = asyncio.create_task(self._hold(server), name=f"server {name}")
                self._holding[name] = (server.definition, task)

    async def _hold(self, server: McpServer) -> None:
        wait_s = _FIRST_WAIT_S
        while True:
            began = time.monotonic()
            try:
                await self._serve(server)
                error: Words = build_sentence("server_error.ended")
            except Exception as failed:
                error = _explain_error(failed)
            raise_if_cancelled()
            wait_s = _FIRST_WAIT_S if time.monotonic() - began > _STEADY_S else wait_s
            logger.warning("server %s: %s; next try in %.0f s", server.name, error, wait_s)
            await self._note(server, "down", error)
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    async def _note(self, server: McpServer, state: ServerState, error: Words = "") -> None:
        try:
            await self._hub.log.do(NoteServer(by=HUB, name=server.name, state=state, error=error))
        except Unavailable as no:
            logger.warning("the state of server %s cannot be written now: %s", server.name, no)

    async def _serve(self, server: McpServer) -> None:
        """Connect, and stay for as long as the server does; importing the SDK is left to a thread."""
        open_client = await asyncio.to_thread(_import_client)
        ended, changed = asyncio.Event(), asyncio.Event()
        folder = self._hub.data / LOGS
        async with open_client(server, folder, ended, changed) as client:
            try:
                await self._look(server, client)
                await self._note(server, "up")
                self._clients[server.name] = client
                self._came.set()
                rest_s = _REST_S
                while not ended.is_set():
                    await _wait_for_any(ended, timeout_s=rest_s)
                    await _wait_for_any(ended, changed, timeout_s=_LOOK_S)
                    changed.clear()
                    if not ended.is_set():
                        is_new = await self._look(server, client)
                        rest_s = min(rest_s * 2, _LONGEST_REST_S) if is_new else _REST_S
            finally:
                self._clients.pop(server.name, None)

    async def _look(self, server: McpServer, client: "Client") -> bool:
        """See which tools it has now, and whether any are new or changed."""
        told: list[DescribedTool] = []
        cursor: str | None = None
        async with asyncio.timeout(_CONNECT_S):
            while True:
                page = await client.list_tools(cursor=cursor)
                told += [tool for one in page.tools if (tool := _describe_tool(server.name, one)) is not None]
                cursor = page.next_cursor
                if cursor is None or len(told) >= MAX_TOOLS:
                    break
        if len(encode(told)) > _MOST_BYTES_OF_ALL:
            raise ServerError("server_error.too_large", limit=_MOST_BYTES_OF_ALL)
        done = await self._hub.log.do(NoteTools(by=HUB, server=server.name, tools=told))
        return bool(done.records)


def _import_client() -> Any:
    with SDK_LOADING:
        from greenroom.services.tool_client import open_client

    return open_client


async def _wait_for_any(*events: asyncio.Event, timeout_s: float) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _describe_tool(server: str, tool: Any) -> DescribedTool | None:
    """A tool as a person will see it; its digest covers everything that its server says about it."""
    whole = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    whole.pop("_meta", None)
    text = encode(_sort_keys(whole))
    if len(text) > _MOST_BYTES:
        logger.warning("server %s: the tool %s is described in too many words", server, str(tool.name)[:100])
        return None
    return DescribedTool(
        name=tool.name,
        description=tool.description or "",
        schema=whole.get("inputSchema") or {},
        annotations=whole.get("annotations") or {},
        digest=hashlib.sha256(text).hexdigest(),
    )


def _sort_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    return [_sort_keys(one) for one in value] if isinstance(value, list) else value


def _explain_error(error: BaseException) -> Words:
    """The first sentence in what may be a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return build_sentence("server_error.not_in_time")
    if isinstance(error, ServerError):
        return error.said
    return (str(error) or type(error).__name__)[:_ERROR_CHARS]


def need_secret(reference: str) -> str:
    """The secret behind a reference; looked up each time, so that it can be changed."""
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = os.environ.get(name)
        if not value:
            raise ServerError("server_error.unset", name=name)
        return value
    try:
        return Path(name).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServerError("server_error.unreadable_secret", path=name) from error


def need_server_program(definition: ServerDefinition) -> str:
    """The whole path of a server's program; the working directory is never searched."""
    program = definition.command[0]
    found = shutil.which(program, path=definition.env.get("PATH", os.environ.get("PATH")))
    if found is None or ("/" in program and not Path(program).is_absolute()):
        raise ServerError("server_error.not_installed", program=program)
    return found
