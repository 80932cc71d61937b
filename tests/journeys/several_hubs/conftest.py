"""Two hubs, as processes, on one private PostgreSQL server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.app import NOUNS
from greenroom.log.check_postgres import check_postgres
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.postgres import PostgresServer
from tests.conftest import end_node


@pytest.fixture
def two_hubs(tmp_path: Path, postgres: PostgresServer) -> Iterator[tuple[HubProcess, HubProcess]]:
    """Both are stopped at the end; the log that they leave is whole."""
    url = postgres.create_database()
    env = {"GREENROOM_DATABASE": url, "GREENROOM_LOCAL_NODE": "1"}
    a, b = HubProcess(tmp_path / "a", env), HubProcess(tmp_path / "b", env)
    try:
        yield a.start(), b.start()
    finally:
        for hub in (a, b):
            if hub.is_running():
                hub.stop()
            end_node(hub.data)
    for hub in (a, b):
        assert "Traceback" not in hub.stderr, hub.stderr
    assert check_postgres(a.data, url, NOUNS).findings == []
