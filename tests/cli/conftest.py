"""Hubs that can start agents, for tests of the command line."""

from tests.runs.conftest import pytest_configure as pytest_configure
from tests.runs.conftest import shared_stage as shared_stage
from tests.runs.conftest import stage as stage
