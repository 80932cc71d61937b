"""The MCP door: tools, resources and prompts over streamable HTTP, legacy SSE and stdio."""
