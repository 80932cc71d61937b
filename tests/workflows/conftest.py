"""Hubs that can start agents, for tests of workflows."""

from tests.runs.conftest import stage as stage
