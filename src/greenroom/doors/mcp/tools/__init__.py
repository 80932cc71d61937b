"""The tools of the MCP door, one file for each group. Clients see them in the order of this list."""

from typing import Any

from greenroom.doors.mcp.tool import Tool
from greenroom.doors.mcp.tools.agents import AGENT_TOOLS
from greenroom.doors.mcp.tools.asks import ASK_TOOLS
from greenroom.doors.mcp.tools.bus import BUS_TOOLS
from greenroom.doors.mcp.tools.mail import MAIL_TOOLS
from greenroom.doors.mcp.tools.messages import MESSAGE_TOOLS
from greenroom.doors.mcp.tools.one_message import ONE_MESSAGE_TOOLS
from greenroom.doors.mcp.tools.runs import RUN_TOOLS
from greenroom.doors.mcp.tools.templates import TEMPLATE_TOOLS
from greenroom.doors.mcp.tools.thread_admin import THREAD_ADMIN_TOOLS
from greenroom.doors.mcp.tools.threads import THREAD_TOOLS
from greenroom.doors.mcp.tools.tool_wrapper import wrap_tool
from greenroom.doors.mcp.tools.workflows import WORKFLOW_TOOLS

TOOLS: tuple[Tool[Any], ...] = tuple(
    wrap_tool(tool)
    for tool in (
        *BUS_TOOLS,
        *MESSAGE_TOOLS,
        *THREAD_TOOLS,
        *THREAD_ADMIN_TOOLS,
        *ONE_MESSAGE_TOOLS,
        *MAIL_TOOLS,
        *AGENT_TOOLS,
        *TEMPLATE_TOOLS,
        *RUN_TOOLS,
        *ASK_TOOLS,
        *WORKFLOW_TOOLS,
    )
)
