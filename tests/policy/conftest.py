"""Hubs with a node of their own, as tests of runs use them."""

from tests.runs.conftest import stage

__all__ = ["stage"]
