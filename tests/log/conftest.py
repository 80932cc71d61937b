"""Tests of the log run on asyncio, and those that ask for `either_store` on SQLite and on PostgreSQL alike."""

import pytest

from tests.log import notebook


@pytest.fixture(params=["sqlite", "postgres"])
def either_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook is kept in each kind of store in turn."""
    if request.param == "postgres":
        monkeypatch.setattr(notebook, "database", request.getfixturevalue("postgres").create_database())
