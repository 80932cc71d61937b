"""A tool of an MCP server as an agent: its prompt is the tool's argument, its answer the tool's result."""
