"""The agents that Greenroom knows, each in its own folder. To ship one more, add its folder and its line here."""

from greenroom.runtimes.agent_cli import AgentCli
from greenroom.runtimes.agents.builtin import BUILTIN
from greenroom.runtimes.agents.claude import CLAUDE
from greenroom.runtimes.agents.codex import CODEX
from greenroom.runtimes.agents.copilot import COPILOT
from greenroom.runtimes.agents.cursor import CURSOR
from greenroom.runtimes.agents.gemini import GEMINI
from greenroom.runtimes.agents.opencode import OPENCODE
from greenroom.runtimes.agents.qwen import QWEN
from greenroom.runtimes.agents.rehearsal import REHEARSAL
from greenroom.runtimes.agents.vscode import VSCODE

AGENTS: tuple[AgentCli, ...] = (REHEARSAL, BUILTIN, CLAUDE, CODEX, OPENCODE, COPILOT, GEMINI, QWEN, CURSOR, VSCODE)
_BY_NAME = {agent.name: agent for agent in AGENTS}


def need_agent(name: str) -> AgentCli:
    """An agent by its name. Raises KeyError if there is none."""
    return _BY_NAME[name]
