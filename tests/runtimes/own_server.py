"""An MCP server that a project brings along, for tests: what it is told to jot down is in a file beside it."""

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer


def main(directory: str, tool: str = "jot_down") -> None:
    desk = Path(directory)
    server = MCPServer("notes")

    @server.tool(tool, structured_output=False)
    async def jot_down(line: str) -> str:
        """Jot down a line."""
        (desk / "jotted").write_text(line)
        return f"jotted down {line}"

    (desk / "started").touch()
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
