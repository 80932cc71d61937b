"""Desks at which asks are answered."""

from collections.abc import Iterator

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.rules.asks.desk import Desk


@pytest.fixture
def desk(shared_hub: HubProcess) -> Iterator[Desk]:
    desk = Desk(shared_hub)
    with desk:
        yield desk
