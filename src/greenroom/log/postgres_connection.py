"""Connects to PostgreSQL so that both sides detect a lost network within seconds."""

from typing import Any

import psycopg

from greenroom.errors import Unavailable

Connection = psycopg.Connection[tuple[Any, ...]]
LOST = (psycopg.OperationalError, psycopg.InterfaceError)
_SERVER_SIDE = (
    "synchronous_commit=on",
    "tcp_user_timeout=4000",
    "tcp_keepalives_idle=2",
    "tcp_keepalives_interval=1",
    "tcp_keepalives_count=2",
)
"""The server ends the session of a machine that has vanished, and frees the write lock if that session held it.

Keepalives do not run while sent data is unacknowledged; `tcp_user_timeout` covers that time.
"""
PARAMETERS: dict[str, Any] = {
    "connect_timeout": 3,
    "tcp_user_timeout": 3000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "options": " ".join(f"-c {setting}" for setting in _SERVER_SIDE),
}


def connect(url: str, *, autocommit: bool = True) -> Connection:
    """A connection that notices when the server is gone."""
    return psycopg.connect(url, autocommit=autocommit, **PARAMETERS)


def make_unreachable_error(error: Exception) -> Unavailable:
    """The error while the database does not answer."""
    return Unavailable("storage_unreachable.database", 5, error=error)
