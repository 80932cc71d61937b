"""The MCP door: tools, resources and prompts over streamable HTTP, legacy SSE and stdio."""

PATHS = ("/mcp", "/mcp/sse", "/sse", "/messages")
"""Where this door is."""
