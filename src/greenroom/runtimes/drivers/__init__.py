"""The drivers, by the name that a profile gives."""

from greenroom.runtimes.contract import Driver
from greenroom.runtimes.drivers.acp.driver import AcpDriver
from greenroom.runtimes.drivers.acp.known_agents import CLAUDE, CODEX, COPILOT, GEMINI
from greenroom.runtimes.drivers.builtin.manifest import BUILTIN
from greenroom.runtimes.drivers.claude.driver import ClaudeDriver
from greenroom.runtimes.drivers.codex.driver import CodexDriver
from greenroom.runtimes.drivers.command.driver import CommandDriver
from greenroom.runtimes.drivers.mcp.driver import McpDriver
from greenroom.runtimes.drivers.opencode.driver import OpencodeDriver
from greenroom.runtimes.drivers.pty.driver import PtyDriver
from greenroom.runtimes.drivers.rehearsal.manifest import REHEARSAL

DRIVERS: dict[str, Driver] = {
    "rehearsal": AcpDriver(REHEARSAL),
    "builtin": AcpDriver(BUILTIN),
    "claude": ClaudeDriver(),
    "codex": CodexDriver(),
    "opencode": OpencodeDriver(),
    "copilot": AcpDriver(COPILOT),
    "gemini": AcpDriver(GEMINI),
    "claude-agent-acp": AcpDriver(CLAUDE),
    "codex-acp": AcpDriver(CODEX),
    "acp": AcpDriver(),
    "pty": PtyDriver(),
    "command": CommandDriver(),
    "mcp": McpDriver(),
}
