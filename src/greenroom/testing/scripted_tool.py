"""`python -m greenroom.testing.scripted_tool [PORT]`: an MCP server with one tool, `perform`, that follows a script.

One directive a line: `SAY text`, `SLEEP seconds` (with progress), `ASK question`, `JSON object`, `FAIL text`, `CRASH`.
"""

import asyncio
import json
import os
import sys
from typing import Any

from mcp import types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

_FORM = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
server = MCPServer("scripted tool")


@server.tool(structured_output=False)
async def perform(script: str, context: Context, greeting: str = "") -> Any:
    """Do what the script says."""
    said: list[str] = [greeting] if greeting else []
    responses = context.input_responses or {}
    for line in script.splitlines():
        word, _, rest = line.partition(" ")
        match word:
            case "SAY":
                said.append(rest)
            case "SLEEP":
                await context.report_progress(0, float(rest), "sleeping")
                await asyncio.sleep(float(rest))
            case "ASK" if not responses:
                asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message=rest, requested_schema=_FORM))
                return types.InputRequiredResult(input_requests={"question": asked})
            case "ASK":
                given = types.ElicitResult.model_validate(responses["question"], from_attributes=True)
                said.append(str((given.content or {}).get("answer")) if given.action == "accept" else given.action)
            case "JSON":
                return types.CallToolResult(content=[], structured_content=json.loads(rest))
            case "FAIL":
                raise ToolError(rest)
            case "CRASH":
                os._exit(3)
    return "\n".join(said)


if __name__ == "__main__":
    if sys.argv[1:]:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
