"""Drivers under test: on asyncio, with real processes."""

from collections.abc import Iterator

import pytest

from greenroom.node.processes import Spawner, find_tree


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    """The node's own; nothing that it started may outlive the test."""
    spawner = Spawner()
    yield spawner
    assert not find_tree(spawner.mark)
