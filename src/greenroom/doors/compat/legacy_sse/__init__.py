"""The MCP transport of 2024-11-05, for clients that know no other."""
