"""How to start Claude Code's ACP adapter and pass values to it."""

from greenroom.runtimes.acp_manifest import AcpManifest, ValueInjection
from greenroom.runtimes.agents.claude.manifest import NO_FILE_MENTIONS
from greenroom.runtimes.agents.claude.own_rules import ASKING

ADAPTER = AcpManifest(
    name="claude-agent-acp",
    command=["claude-agent-acp"],
    # Some versions treat any value of IS_SANDBOX as true, even one that Claude Code itself refuses.
    unset=["IS_SANDBOX"],
    # All of the hub's tools at once, and no calls of the model to guess what the user could say next.
    always=ValueInjection(
        env={"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false"},
        # Otherwise the folder's and the person's own servers are started, each with tools that nobody asked for. And a
        # folder's settings have an environment, which goes before that of the process.
        meta={"claudeCode": {"options": {"strictMcpConfig": True, "settings": {"env": NO_FILE_MENTIONS}}}},
    ),
    own_rules="claude",
    asking=ValueInjection(meta={"claudeCode": {"options": {"settings": ASKING}}}),
    model=ValueInjection(env={"ANTHROPIC_MODEL": "{value}"}),
    instructions=ValueInjection(meta={"systemPrompt": {"append": "{value}"}}),
    hub=ValueInjection(meta={"claudeCode": {"options": {"allowedTools": ["mcp__greenroom"]}}}),
    credential="variable",
    second_prompt="queued",
    early_calls=True,
)
