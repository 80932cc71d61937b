"""Agents that are registered on the bus, and whether they are online."""
