"""Workflows: plans that agents carry out, as graphs of steps."""
