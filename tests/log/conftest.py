"""Tests of the log run on asyncio, and those that ask for `either_store` on SQLite and on PostgreSQL alike."""

from collections.abc import Iterator

import pytest

from greenroom.testing.postgres import PostgresServer, postgres_server
from tests.log import notebook


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def either_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook is kept in each kind of store in turn."""
    if request.param == "postgres":
        monkeypatch.setattr(notebook, "database", request.getfixturevalue("postgres").new_database())
