"""Tools of MCP servers behind the hub, offered as server__tool to callers that may see them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types as types
import msgspec

from greenroom.doors.mcp.tool import Blocks, McpCall, TextBlock
from greenroom.errors import Refused, Unavailable
from greenroom.json_types import ToolArguments
from greenroom.rules.servers.model import McpServer, ServerTool
from greenroom.rules.servers.queries import find_offered, get_offered

if TYPE_CHECKING:
    from greenroom.rules.access.model import Principal
    from greenroom.services.hub import Hub
    from greenroom.services.tool_servers import ToolServers

_arguments = msgspec.json.Decoder(ToolArguments).decode


@dataclass(frozen=True)
class ProxiedTool:
    """One of them, for one call; it is run as a tool of our own is."""

    name: str
    servers: "ToolServers"
    waits: bool = True

    def decode(self, arguments: bytes) -> ToolArguments:
        return _arguments(arguments)

    async def run(self, call: McpCall[ToolArguments]) -> Blocks:
        """The server's own result; what the gate or the server refuses is an error that the model can read."""
        from greenroom.services.tool_gate import call_gated_tool

        try:
            result = await call_gated_tool(call.hub, self.servers, call.by, self.name, call.args)
        except (Refused, Unavailable) as no:
            return Blocks([TextBlock(no.message)], is_error=True)
        blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
        return Blocks(blocks, is_error=bool(result.is_error), structured=result.structured_content)


@dataclass(frozen=True)
class ProxiedTools:
    """All of them, as each caller may see them."""

    hub: "Hub"
    servers: "ToolServers"

    def get_tool(self, by: "Principal", name: str) -> ProxiedTool | None:
        """The tool, unless it does not exist for this principal."""
        return None if get_offered(self.hub.rows, by, name) is None else ProxiedTool(name, self.servers)

    def find_tools(self, by: "Principal") -> list[types.Tool]:
        """The tools in the words of the protocol: as a person has accepted them."""
        return [_build_tool(server, tool) for server, tool in find_offered(self.hub.rows, by)]


def _build_tool(server: McpServer, tool: ServerTool) -> types.Tool:
    seen = tool.accepted or tool.seen
    down = "" if server.state == "up" else f" (The server {server.name} is not there just now.)"
    hints = types.ToolAnnotations.model_validate(seen.annotations) if server.definition.trust_annotations else None
    return types.Tool(
        name=tool.offered_as,
        description=seen.description + down,
        input_schema=seen.schema or {"type": "object"},
        annotations=hints,
    )
