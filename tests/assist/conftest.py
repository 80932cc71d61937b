"""The stage of the tests of runs, for sessions that put agents to work."""

from tests.runs.conftest import stage as stage
