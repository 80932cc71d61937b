"""A tool of an MCP server as an agent: what it is told is the tool's argument, what it says is the tool's answer."""
