"""Hubs for the page's journeys."""

from collections.abc import Iterator

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked, end_node
from tests.page.browser_journey import need_page


@pytest.fixture(scope="module")
def page_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub with a node for all journeys that do not disturb each other."""
    need_page()
    hub = HubProcess(tmp_path_factory.mktemp("page") / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        yield from checked(hub)
    finally:
        end_node(hub.data)
