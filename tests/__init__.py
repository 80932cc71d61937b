"""Tests of Greenroom: folders mirror the source; journeys, faults, security and page go across it."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The checkout."""
