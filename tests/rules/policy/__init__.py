"""Rules, the judge, and the gateway to MCP servers."""
