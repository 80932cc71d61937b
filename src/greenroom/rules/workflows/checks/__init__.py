"""Checks a workflow before it runs."""
