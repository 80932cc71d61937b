"""Cursor, whose agent people connect to the hub."""

from greenroom.runtimes.agent_cli import AgentCli, McpConfig, build_plain_entry

CURSOR = AgentCli(
    name="cursor",
    display_name="Cursor",
    tools={"search": "codebase_search", "plan": "todo_write"},
    own_paths=(".cursor", ".cursorrules"),
    mcp_config=McpConfig(file=".cursor/mcp.json", key="mcpServers", build_entry=build_plain_entry),
)
