"""Runs of agents, the trees they form, and their limits."""
