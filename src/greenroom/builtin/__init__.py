"""A model with the hub's tools, as an agent. It runs as a process and speaks ACP, like every other agent."""
