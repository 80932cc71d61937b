"""Drivers under test: on asyncio, with real processes; the agents that few people have only when they are asked for."""

from collections.abc import Iterator

import pytest

from greenroom.node.processes import Spawner, find_tree


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clis: needs agents of .clis/more, which `make test-clis` installs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "clis" in config.option.markexpr:
        return
    wanted = [item for item in items if item.get_closest_marker("clis") is None]
    if len(wanted) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    """The node's own; nothing that it started may outlive the test."""
    spawner = Spawner()
    yield spawner
    assert not find_tree(spawner.mark)
