"""The MCP door: tools, resources and prompts over streamable HTTP and stdio."""

PATHS = ("/mcp", "/mcp/sse", "/mcp/messages")
"""Where this door is."""
TOOL_PREFIX = "/api/mcp/tool/"
"""Below this a tool is called by its name."""
