"""A tool of any MCP server, as an agent."""
