"""The holder of agent processes on one machine: the same program beside the hub and far from it."""
