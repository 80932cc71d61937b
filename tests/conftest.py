"""Hubs for tests. Every hub is checked on the way out."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubProcess]:
    """A fresh hub of its own for one test."""
    yield from checked(HubProcess(tmp_path / "data"))


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub for a whole module, for tests that do not disturb each other."""
    yield from checked(HubProcess(tmp_path_factory.mktemp("hub") / "data"))


def checked(hub: HubProcess) -> Iterator[HubProcess]:
    """Start a hub, and see on the way out that it stops cleanly and complained of nothing."""
    hub.start()
    try:
        yield hub
    finally:
        code = hub.stop()
    complaints = hub.stderr_path.read_text()
    assert code == 0, complaints
    assert "Traceback" not in complaints, complaints


@pytest.fixture
def api(hub: HubProcess) -> Iterator[httpx.Client]:
    """The operator's HTTP client of the hub."""
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=30) as client:
        yield client
