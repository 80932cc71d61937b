"""ACP agents on trial: where each is installed, how it is put on the scripted model, and a desk to work at."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec

from greenroom.runtimes.contract import Opening
from greenroom.testing.hub_process import HubProcess

CLIS = Path(__file__).parents[2] / ".clis"
MORE = CLIS / "more"
"""Agents that are only tried by `make test-clis`."""
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "NO_UPDATE_NOTIFIER": "1",
}


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """Where one agent lives during a test: a home, a working directory, and its credential for the hub."""

    home: Path
    hub_url: str
    token: str
    command: list[str] = []
    env: dict[str, str] = {}
    model: str | None = None
    instructions: str | None = None
    options: dict[str, Any] = {}

    @property
    def directory(self) -> Path:
        return self.home / "desk"

    def opening(self, resume: str | None = None) -> Opening:
        """As a node would make it: the private folder is new each time, the rest stays."""
        scratch = self.home / "scratch"
        for folder in (self.directory, scratch):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        token_file = scratch / "token"
        token_file.write_text(self.token)
        path = os.pathsep.join([*(str(Path(part).parent) for part in self.command[:1]), os.environ["PATH"]])
        return Opening(
            command=self.command,
            directory=self.directory,
            scratch=scratch,
            env={**QUIET, "PATH": path, "HOME": str(self.home), **self.env},
            hub_url=f"{self.hub_url}/mcp",
            token_file=token_file,
            model=self.model,
            instructions=self.instructions,
            resume=resume,
            options=self.options,
        )


def make_token(hub: HubProcess, name: str) -> str:
    """The credential of an agent of its own."""
    wanted = {"ide": name, "model": "fake"}
    headers = {"Authorization": f"Bearer {hub.token}"}
    answer = httpx.post(f"{hub.url}/api/agents/register", json=wanted, headers=headers)
    return str(answer.raise_for_status().json()["token"])


def rehearsal(home: Path, hub: HubProcess) -> Desk:
    """The scripted agent."""
    env = {"GREENROOM_REHEARSAL_STATE": str(home / "state")}
    return Desk(home=home, hub_url=hub.url, token=make_token(hub, "rehearsal"), env=env)


def copilot(home: Path, hub: HubProcess, model_url: str) -> Desk:
    env = {
        "COPILOT_OFFLINE": "true",
        "XDG_CACHE_HOME": str(CLIS / "cache"),  # it unpacks 235 MB there, once
        "COPILOT_PROVIDER_BASE_URL": f"{model_url}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
    }
    program = CLIS / "node_modules/@github/copilot-linux-x64/copilot"
    token = make_token(hub, "copilot")
    return Desk(home=home, hub_url=hub.url, token=token, command=[str(program), "--acp"], env=env, model="fake-model")


def opencode(home: Path, hub: HubProcess, model_url: str) -> Desk:
    known = {"fake-model": {"limit": {"context": 100_000, "output": 8_000}, "cost": {"input": 1, "output": 2}}}
    options = {"baseURL": f"{model_url}/v1", "apiKey": "fake"}
    config = {
        "small_model": "fake/fake-model",
        "enabled_providers": ["fake"],
        "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": known}},
    }
    env = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    program = MORE / "node_modules/opencode-linux-x64/bin/opencode"
    token = make_token(hub, "opencode")
    return Desk(
        home=home, hub_url=hub.url, token=token, command=[str(program), "acp"], env=env, model="fake/fake-model"
    )


def gemini(home: Path, hub: HubProcess, model_url: str) -> Desk:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini/settings.json", json.dumps(settings))
    env = {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": model_url, "GEMINI_TELEMETRY_ENABLED": "false"}
    program = MORE / "node_modules/.bin/gemini"
    token = make_token(hub, "gemini")
    return Desk(
        home=home, hub_url=hub.url, token=token, command=[str(program), "--acp"], env=env, model="gemini-2.5-flash"
    )


def claude_agent_acp(home: Path, hub: HubProcess, model_url: str) -> Desk:
    env = {
        "ANTHROPIC_BASE_URL": model_url,
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    program = MORE / "node_modules/.bin/claude-agent-acp"
    return Desk(home=home, hub_url=hub.url, token=make_token(hub, "claude-agent-acp"), command=[str(program)], env=env)


def codex_acp(home: Path, hub: HubProcess, model_url: str) -> Desk:
    provider = {"name": "Fake", "base_url": f"{model_url}/v1", "env_key": "FAKE_API_KEY", "wire_api": "responses"}
    config = {"model_provider": "fake", "model_providers": {"fake": provider}, "analytics": {"enabled": False}}
    (home / ".codex").mkdir(parents=True)
    env = {"CODEX_CONFIG": json.dumps(config), "FAKE_API_KEY": "fake", "CODEX_HOME": str(home / ".codex")}
    program = MORE / "node_modules/.bin/codex-acp"
    token = make_token(hub, "codex-acp")
    return Desk(home=home, hub_url=hub.url, token=token, command=[str(program)], env=env, model="fake-model")


AGENTS: dict[str, Callable[[Path, HubProcess, str], Desk]] = {
    "copilot": copilot,
    "opencode": opencode,
    "gemini": gemini,
    "claude-agent-acp": claude_agent_acp,
    "codex-acp": codex_acp,
}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)
