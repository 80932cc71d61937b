"""Hubs for the page's journeys."""

from collections.abc import Iterator

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.page.stage import need_page
from tests.runs.conftest import end_node


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub with a node for all journeys that do not disturb each other."""
    need_page()
    hub = HubProcess(tmp_path_factory.mktemp("page") / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        yield from checked(hub)
    finally:
        end_node(hub.data)
