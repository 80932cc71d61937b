"""An MCP server's program and its pipes: bounds what it sends, and leaves no process behind."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any

import anyio
import mcp_types as types
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from greenroom.runtimes.process_trees import MARK, TREES_ARE_FOUND, die_with_parent, end_tree

logger = logging.getLogger(__name__)
MOST_BYTES = 16 << 20
"""The longest message that is taken from a server."""
_MOST_JUNK = 100
_GRACE_S = 2.0


@contextlib.asynccontextmanager
async def open_pipes(
    command: list[str], env: dict[str, str], directory: Path | str, words: IO[Any], mark: str
) -> AsyncIterator[tuple[Any, Any]]:
    """Start the program, whose stderr goes into `words`, and end it at the end with everything that it started.

    It does not outlive the hub either: its processes have the `mark`, by which the next hub ends them.
    """
    process = await _start_process(command, {**get_default_environment(), **env, MARK: mark}, directory, words)
    says, heard = anyio.create_memory_object_stream[Any](0)
    wishes, wished = anyio.create_memory_object_stream[Any](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read_messages, process, says)
            tasks.start_soon(_write_messages, process, wished)
            try:
                yield heard, wishes
            finally:
                tasks.cancel_scope.cancel()
    finally:
        for stream in (says, heard, wishes, wished):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _end_process(process)
            if TREES_ARE_FOUND:
                await asyncio.to_thread(end_tree, mark)


async def _start_process(
    command: list[str], env: dict[str, str], directory: Path | str, words: IO[Any]
) -> asyncio.subprocess.Process:
    """Start the program. A start that is cancelled is completed first: asyncio waits forever for a half-started one."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=words,
            env=env,
            cwd=directory,
            limit=MOST_BYTES,
            start_new_session=True,
            preexec_fn=die_with_parent if TREES_ARE_FOUND else None,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _end_process(await starting)
        raise


async def _read_messages(process: asyncio.subprocess.Process, says: Any) -> None:
    """Hand on what it says, a message a line; when it says too much it is not listened to any more."""
    assert process.stdout is not None  # noqa: S101 opened as a pipe
    junk = 0
    async with says:
        while junk < _MOST_JUNK:
            try:
                line = await process.stdout.readline()
            except ValueError:
                logger.warning("a server's message is longer than %d bytes: it is let go", MOST_BYTES)
                return
            if not line:
                return
            try:
                message = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError:
                junk += 1
                continue
            with contextlib.suppress(anyio.BrokenResourceError):  # nobody listens any more
                await says.send(message)
        logger.warning("a server has said %d lines that are no messages: it is let go", junk)


async def _write_messages(process: asyncio.subprocess.Process, wished: Any) -> None:
    assert process.stdin is not None  # noqa: S101 opened as a pipe
    async with wished:
        async for message in wished:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            with contextlib.suppress(OSError):  # it has ended, which the other pipe reports
                process.stdin.write(line.encode() + b"\n")
                await process.stdin.drain()


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """By closing its ear first, then with less patience."""
    assert process.stdin is not None  # noqa: S101 opened as a pipe
    process.stdin.close()
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            async with asyncio.timeout(_GRACE_S):
                await process.wait()
        except TimeoutError:
            continue
        break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it has left in its group
