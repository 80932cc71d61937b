"""Opens sessions in which each prompt is one call of a tool, through an agent of ours that holds the MCP server.

Options of a profile: `tool`; `url`, unless its command starts the server; `prompt_argument` (prompt), `arguments`,
`bearer_env`.
"""

import shutil
import sys

import msgspec

from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import SessionOptions, Spawner
from greenroom.runtimes.drivers.acp.driver import AcpDriver
from greenroom.runtimes.drivers.acp.session import AcpSession
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.prompt_text import DATA
from greenroom.tool_agent.tool_choice import CHOICE, parse_tool_choice

_PROGRAM = [sys.executable, "-m", "greenroom.tool_agent"]
MANIFEST = AcpManifest(name="mcp", command=_PROGRAM, libraries=("mcp",), resume="none")


class McpDriver(AcpDriver):
    """Drives one tool of an MCP server."""

    def __init__(self) -> None:
        super().__init__(MANIFEST, DATA)

    async def open(self, opening: SessionOptions, spawner: Spawner) -> AcpSession:
        choice = parse_tool_choice(opening.command, opening.options)
        if choice.command:
            choice = msgspec.structs.replace(choice, command=[_need_program(opening), *choice.command[1:]])
        env = {**opening.env, CHOICE: msgspec.json.encode(choice).decode()}
        own = msgspec.structs.replace(
            opening, command=[], options={}, env=env, model=None, instructions=None, resume=None
        )
        return await super().open(own, spawner)


def _need_program(opening: SessionOptions) -> str:
    """Where the server's program is: a whole path, or a name on PATH; never in the agent's own directory."""
    name = opening.command[0]
    if name.startswith("/"):
        return name
    found = None if "/" in name else shutil.which(name, path=opening.env.get("PATH"))
    if found is None or not found.startswith("/"):
        raise LaunchError("launch.no_mcp_program", program=name)
    return found
