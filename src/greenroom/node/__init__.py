"""The program that runs agent processes on one machine, beside the hub or far from it."""
