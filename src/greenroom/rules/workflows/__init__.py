"""Workflows: plans for agents, as graphs of steps."""
