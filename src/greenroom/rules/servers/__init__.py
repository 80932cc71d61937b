"""MCP servers that the operator registers, and their tools, which a person sees before an agent does."""
