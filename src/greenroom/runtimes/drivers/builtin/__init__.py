"""A model with the hub's tools, as an ACP agent that ships with Greenroom."""
