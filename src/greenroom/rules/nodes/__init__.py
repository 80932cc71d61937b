"""Nodes: machines that run agent processes, what they can run, and whether they can be reached."""
