"""The general drivers: any ACP agent, any terminal program, any command, one tool of an MCP server."""
