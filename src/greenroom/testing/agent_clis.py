"""Real agent CLIs as processes for tests, connected to the fake model and to the hub as their MCP server."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from greenroom.testing.timeouts import WAIT_S

Json = dict[str, Any]
CLAUDE = Path("node_modules/@anthropic-ai/claude-code-linux-x64/claude")
CODEX = Path("node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex")
TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable in which a CLI gets its credential: arguments can be read by every user of the machine."""
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
_CODEX_CONFIG = """\
model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.fake]
name = "Fake"
base_url = "{model_url}/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"

[mcp_servers.hub]
url = "{hub_url}/mcp"
bearer_token_env_var = "{token}"
default_tools_approval_mode = "approve"
tool_timeout_sec = 600
# Otherwise Codex begins after a second, with whatever tools it has seen by then.
required = true
startup_timeout_sec = 60
"""


class CliProcess:
    """One CLI at one prompt. Its files, and what it prints, are in `home`."""

    def __init__(
        self,
        home: Path,
        command: list[str],
        env: Mapping[str, str],
        answer_in: Callable[[Json], str | None],
    ) -> None:
        self.home = home
        self._command = command
        self._env = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), **env}
        self._answer_in = answer_in
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def _stdout(self) -> Path:
        return self.home / "stdout"

    @property
    def _stderr(self) -> Path:
        return self.home / "stderr"

    def start(self, prompt: str) -> "CliProcess":
        """Begin to work on a prompt."""
        desk = self.home / "desk"
        desk.mkdir()
        stdin = self.home / "prompt"
        stdin.write_text(prompt)
        with stdin.open() as given, self._stdout.open("w") as out, self._stderr.open("w") as err:
            self._process = subprocess.Popen(
                self._command, cwd=desk, env=self._env, stdin=given, stdout=out, stderr=err, start_new_session=True
            )
        return self

    def wait(self) -> int:
        """Wait until it ends by itself, and return its exit code; raises subprocess.TimeoutExpired."""
        assert self._process is not None  # noqa: S101
        return self._process.wait(WAIT_S)

    def get_code(self) -> int | None:
        """Its exit code, once it has ended."""
        return None if self._process is None else self._process.poll()

    def stop(self) -> None:
        """End it and all that it started."""
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(WAIT_S)

    def read_events(self) -> list[Json]:
        """What it has reported so far."""
        lines, _, _ = self._stdout.read_text().rpartition("\n")
        return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]

    def get_answer(self) -> str | None:
        """What it said in the end."""
        return next(
            (text for event in reversed(self.read_events()) if (text := self._answer_in(event)) is not None), None
        )

    def tail(self, count: int = 10) -> str:
        """The last lines that it printed, for a failure's report."""
        printed = [path.read_text().splitlines()[-count:] for path in (self._stdout, self._stderr) if path.exists()]
        return "\n".join(line[:600] for lines in printed for line in lines)


def build_claude(clis: Path, home: Path, model_url: str, hub_url: str, token: str) -> CliProcess:
    """Claude Code, which finds its MCP server and its credential's variable in a file."""
    home.mkdir(mode=0o700, parents=True)
    server = {
        "type": "http",
        "url": f"{hub_url}/mcp",
        "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"},
        # Otherwise the model is shown the names only, and has to search for each tool first.
        "alwaysLoad": True,
    }
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"hub": server}}))
    command = [str(clis / CLAUDE), "-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"]
    command += ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__hub"]
    env = {**_QUIET, "ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "sk-ant-fake", TOKEN: token}
    return CliProcess(home, command, env, lambda event: event.get("result"))


def build_codex(clis: Path, home: Path, model_url: str, hub_url: str, token: str) -> CliProcess:
    """Codex, which finds its MCP server and its credential's variable in a file."""
    home.mkdir(mode=0o700, parents=True)
    (home / "config.toml").write_text(_CODEX_CONFIG.format(model_url=model_url, hub_url=hub_url, token=TOKEN))
    command = [str(clis / CODEX), "exec", "--json", "--skip-git-repo-check", "-"]
    env = {"CODEX_HOME": str(home), "FAKE_API_KEY": "fake", TOKEN: token}
    return CliProcess(home, command, env, _get_codex_answer)


def _get_codex_answer(event: Json) -> str | None:
    item = event.get("item", {})
    return item["text"] if item.get("type") == "agent_message" else None
