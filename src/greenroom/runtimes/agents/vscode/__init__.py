"""VS Code, whose agents people connect to the hub."""

import sys

from greenroom.runtimes.agent_cli import AgentCli, McpConfig, build_stdio_entry

_SETTINGS = "Library/Application Support" if sys.platform == "darwin" else ".config"

VSCODE = AgentCli(
    name="vscode",
    display_name="VS Code",
    own_paths=(".vscode",),
    mcp_config=McpConfig(file=f"{_SETTINGS}/Code/User/mcp.json", key="servers", build_entry=build_stdio_entry),
)
