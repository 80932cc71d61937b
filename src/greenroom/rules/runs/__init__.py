"""Agents at work: runs, the tree they form, and what limits it."""
