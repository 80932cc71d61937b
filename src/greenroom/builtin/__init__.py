"""A model with the hub's tools as an agent of its own: it speaks ACP as a process, as every other agent does."""
