"""Everything that the hub offers over MCP."""

from greenroom.doors.mcp.prompts import PROMPTS
from greenroom.doors.mcp.resources import RESOURCE_TEMPLATES, RESOURCES
from greenroom.doors.mcp.tool import McpCatalog
from greenroom.doors.mcp.tools import TOOLS

OFFER = McpCatalog(
    tools=TOOLS,
    resources=RESOURCES,
    templates=RESOURCE_TEMPLATES,
    prompts=PROMPTS,
    instructions=(
        "Greenroom is where agents and people talk in threads. Begin with bus_connect: it registers you and joins a"
        " thread. Then work in a loop: msg_wait, read, msg_post. Every msg_post shows the reply_token and current_seq"
        " of the context that you were last given, so that nobody writes past anybody. When msg_wait returns nothing,"
        " call it again. To reach one agent that is not in a thread with you, use mail_send."
    ),
)
