"""How a runtime is put on a scripted model, so that it can be tried without an account: scripts, and its settings."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from greenroom.runtimes.conformance_trial import ModelScript

REHEARSED = ModelScript(
    say="SAY TEXT\nUSAGE 1000 50",
    command="SHELL COMMAND\nSAY TEXT",
    hub_tool="TOOL bus_get_config {}\nSAY TEXT",
    slow="SAY beginning\nSLEEP 30",
    tokens=(1000, 50),
)
"""For the scripted agent itself."""
FAKED = ModelScript(
    command="USE_TOOL bash COMMAND\nSAY TEXT",
    hub_tool="USE_TOOL bus_get_config {}\nSAY TEXT",
    slow="SLOW 100 0.2",
    tokens=(1000, 50),
)
"""For a runtime with the fake model behind it."""


def choose_script(driver: str) -> ModelScript:
    """What makes the model behind a driver do things. This adapter of Codex asks only for what leaves its sandbox."""
    if driver == "codex-acp":
        return msgspec.structs.replace(FAKED, command="USE_TOOL bash! COMMAND\nSAY TEXT")
    if driver == "claude":
        return msgspec.structs.replace(FAKED, sees_steering=False)
    if driver == "builtin":
        return msgspec.structs.replace(FAKED, command=None)
    if driver == "mcp":
        return ModelScript(command=None, hub_tool=None, slow="SLEEP 30", recall=None)
    return REHEARSED if driver == "rehearsal" else FAKED


class ModelWiring(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime must be given to think with a model server of ours."""

    env: dict[str, str]
    model: str | None = None
    command: list[str] = []
    options: dict[str, Any] = {}
    files: dict[str, str] = {}
    """Below its home."""


def write_model_wiring(driver: str, home: Path, model_url: str) -> ModelWiring | None:
    """The settings for a runtime whose home this is, its files written there; None if it is not known how."""
    make = _WIRINGS.get(driver)
    if make is None:
        return None
    wiring = make(home, model_url)
    for name, text in wiring.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return wiring


def _rehearsal(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"GREENROOM_REHEARSAL_STATE": str(home / "state")})


def _builtin(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"OPENAI_BASE_URL": f"{model_url}/v1", "OPENAI_API_KEY": "fake"}, model="openai:fake-model")


def _mcp(home: Path, model_url: str) -> ModelWiring:
    command = [sys.executable, "-m", "greenroom.testing.scripted_tool"]
    return ModelWiring(env={}, command=command, options={"tool": "perform", "prompt_argument": "script"})


def _claude(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "sk-ant-fake"})


def _claude_agent_acp(home: Path, model_url: str) -> ModelWiring:
    env = {**_claude(home, model_url).env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return ModelWiring(env=env)


_CODEX_CONFIG = """\
model_provider = "fake"

[model_providers.fake]
name = "Fake"
base_url = "{model_url}/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"
"""


def _make_tmpdir_env(home: Path) -> dict[str, str]:
    """Codex keeps the program of its sandbox in its home, but not if that is a folder for temporary files."""
    folder = home / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return {"TMPDIR": str(folder)}


def _codex(home: Path, model_url: str) -> ModelWiring:
    env = {"FAKE_API_KEY": "fake", "CODEX_HOME": str(home / ".codex"), **_make_tmpdir_env(home)}
    files = {".codex/config.toml": _CODEX_CONFIG.format(model_url=model_url)}
    return ModelWiring(env=env, model="fake-model", files=files)


def _codex_acp(home: Path, model_url: str) -> ModelWiring:
    provider = {"name": "Fake", "base_url": f"{model_url}/v1", "env_key": "FAKE_API_KEY", "wire_api": "responses"}
    config = {"model_provider": "fake", "model_providers": {"fake": provider}, "analytics": {"enabled": False}}
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    env = {"CODEX_CONFIG": json.dumps(config), "FAKE_API_KEY": "fake", "CODEX_HOME": str(home / ".codex")}
    env |= _make_tmpdir_env(home)
    return ModelWiring(env=env, model="fake-model")


def _opencode(home: Path, model_url: str) -> ModelWiring:
    limit = {"context": 100_000, "output": 8_000}
    known = {"fake-model": {"limit": limit, "cost": {"input": 1, "output": 2}, "temperature": True}}
    options = {"baseURL": f"{model_url}/v1", "apiKey": "fake"}
    config = {
        "small_model": "fake/fake-model",
        "enabled_providers": ["fake"],
        "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": known}},
    }
    env = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return ModelWiring(env=env, model="fake/fake-model")


def _copilot(home: Path, model_url: str) -> ModelWiring:
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{model_url}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
    }
    return ModelWiring(env=env, model="fake-model")


def _gemini(home: Path, model_url: str) -> ModelWiring:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    env = {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": model_url, "GEMINI_TELEMETRY_ENABLED": "false"}
    return ModelWiring(env=env, model="gemini-2.5-flash", files={".gemini/settings.json": json.dumps(settings)})


_WIRINGS: dict[str, Callable[[Path, str], ModelWiring]] = {
    "rehearsal": _rehearsal,
    "builtin": _builtin,
    "mcp": _mcp,
    "claude": _claude,
    "claude-agent-acp": _claude_agent_acp,
    "codex": _codex,
    "codex-acp": _codex_acp,
    "opencode": _opencode,
    "copilot": _copilot,
    "gemini": _gemini,
}
