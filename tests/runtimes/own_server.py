"""An MCP server that a project brings along, for tests: what it is told to jot down is in a file beside it."""

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

desk = Path(sys.argv[1])
name = sys.argv[2] if len(sys.argv) > 2 else "jot_down"
server = MCPServer("notes")


@server.tool(name, structured_output=False)
async def jot_down(line: str) -> str:
    """Jot down a line."""
    (desk / "jotted").write_text(line)
    return f"jotted down {line}"


if __name__ == "__main__":
    (desk / "started").touch()
    server.run()
