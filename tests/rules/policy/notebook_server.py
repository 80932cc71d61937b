"""An MCP server for tests: writes into a notebook, and tells of its tools what a file beside it says."""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

desk = Path(sys.argv[1])
said = (desk / "description").read_text() if (desk / "description").exists() else "Write a line into the notebook."
server = MCPServer("notebook")


@server.tool(description=said, structured_output=False)
async def write(line: str) -> str:
    with (desk / "notebook").open("a") as file:
        file.write(line + "\n")
    return f"wrote {line}"


@server.tool(structured_output=False)
async def read() -> str:
    """Read the notebook."""
    return (desk / "notebook").read_text() if (desk / "notebook").exists() else ""


@server.tool(structured_output=False)
async def secret() -> str:
    """Tell whether the secret has come."""
    return "yes" if os.environ.get("NOTEBOOK_KEY") == "open sesame" else "no"


@server.tool(structured_output=False)
async def die() -> str:
    """End at once."""
    os._exit(3)


if __name__ == "__main__":
    (desk / "pid").write_text(str(os.getpid()))
    if sys.argv[2:]:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
