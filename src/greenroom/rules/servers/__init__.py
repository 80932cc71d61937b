"""MCP servers that the operator registers, and their tools, which a person accepts before an agent gets them."""
