"""Which hubs use a database, and which one leads, by locks that are released as soon as their hub is gone."""

import asyncio
import contextlib
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import psycopg

from greenroom.log.postgres_connection import LOST, PARAMETERS
from greenroom.log.postgres_rows import PostgresRows

RETRY_S = 1.0
_LOOK_S = 0.5
_LEADER_LOCK = 0x67_72_65_66
_HUBS_LOCK = 0x67_72_65_65
HeldConnection = psycopg.AsyncConnection[tuple[Any, ...]]


def _hash_name(name: str) -> int:
    """A name as a lock takes it."""
    return zlib.crc32(name.encode()) & 0x7FFF_FFFF


@contextlib.asynccontextmanager
async def open_held_connection(url: str) -> AsyncIterator[HeldConnection]:
    """A connection whose locks are free as soon as this process is gone."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, **PARAMETERS) as connection:
        yield connection


async def register_hub(connection: HeldConnection, hub: str) -> None:
    """Be on the database under this name for as long as the connection lasts."""
    await connection.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_HUBS_LOCK, _hash_name(hub)))


def is_registered(rows: PostgresRows, hub: str) -> bool:
    """Whether a hub of this name is on the database."""
    return _hash_name(hub) in find_hubs(rows)


def find_hubs(rows: PostgresRows) -> frozenset[int]:
    """A number for each hub that is on the database; it follows from the name."""
    query = (
        "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return frozenset(number for (number,) in rows.run(query, (_HUBS_LOCK,)))


@contextlib.asynccontextmanager
async def acquire_lead(url: str, part: str) -> AsyncIterator[Callable[[], Coroutine[Any, Any, None]]]:
    """Wait until this hub is the one that sees to a part of the work; yields what waits until it is so no more.

    The lock belongs to a connection of its own: when the hub dies, it is free.
    """
    async with contextlib.AsyncExitStack() as stack:
        connection = await _wait_for_lead(stack, url, part)

        async def until_lost() -> None:
            with contextlib.suppress(*LOST):
                while True:
                    await asyncio.sleep(RETRY_S)
                    await connection.execute("SELECT 1")

        yield until_lost


async def _wait_for_lead(stack: contextlib.AsyncExitStack, url: str, part: str) -> HeldConnection:
    connection: HeldConnection | None = None
    while True:
        try:
            if connection is None:
                connection = await stack.enter_async_context(open_held_connection(url))
            if await _try_lock(connection, part):
                return connection
        except LOST:
            connection = None
        await asyncio.sleep(_LOOK_S)


async def _try_lock(connection: HeldConnection, part: str) -> bool:
    """Whether the lead is ours now. One that is waited for in the database would hold up its clearing and indexing."""
    found = await connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (_LEADER_LOCK, _hash_name(part)))
    answer = await found.fetchone()
    return answer is not None and bool(answer[0])
