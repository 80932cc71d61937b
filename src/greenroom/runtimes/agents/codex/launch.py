"""Plans the start of Codex from a session's options: command, environment, the thread's parameters."""

import sys
import tomllib
from pathlib import Path

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.codex import manifest
from greenroom.runtimes.agents.codex.options import CodexOptions
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.programs import need_command

_LONGEST_SOCKET = 107
"""What Linux takes as the path of a socket."""


class CodexLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to start. Secrets are in `env` only."""

    program: list[str]
    command: list[str]
    env: dict[str, str]
    method: str
    params: JsonObject
    """What the thread is started or resumed with."""
    socket: Path | None = None
    """Where the app server listens, if people can attach."""


def plan_launch(opening: SessionOptions, token: str | None) -> CodexLaunch:
    """What to start. Raises ValueError when the options are wrong, or nothing is installed."""
    try:
        options = msgspec.convert(opening.options, CodexOptions)
    except msgspec.ValidationError as error:
        raise ValueError(f"options: {error}") from None
    program = need_command(opening, manifest.COMMAND)
    socket = _build_socket_path(opening.scratch) if options.attach else None
    listen = [manifest.LISTEN, f"unix://{socket}"] if socket else []
    config: JsonObject = {**manifest.CONFIG, **options.config, **({} if opening.may_spawn else manifest.NO_HELPERS)}
    env = dict(opening.env)
    if opening.hub_url:
        config[f"mcp_servers.{manifest.HUB}"] = _build_hub_server(opening, opening.hub_url, token)
    if token is not None:
        env[manifest.TOKEN] = token
    params: JsonObject = {
        **manifest.ASKS,
        "approvalPolicy": options.approval_policy,
        "sandbox": options.sandbox,
        "cwd": str(opening.directory),
        "config": config,
    }
    if opening.model:
        params["model"] = opening.model
    if opening.instructions:
        params["developerInstructions"] = opening.instructions
    if opening.resume:
        params |= {"threadId": opening.resume, "excludeTurns": True}
    return CodexLaunch(
        program=program,
        command=[*program, *manifest.SERVE, *_build_settings(config), *listen],
        env=env,
        method="thread/resume" if opening.resume else "thread/start",
        params=params,
        socket=socket,
    )


def _build_hub_server(opening: SessionOptions, hub_url: str, token: str | None) -> JsonObject:
    """The hub. Codex lays it over what a person has under that name, so it must be of the same kind."""
    if opening.token_file is not None and "command" in _read_own_hub(opening):
        reached = ["--url", hub_url.removesuffix("/mcp"), "--token-file", str(opening.token_file)]
        return {"command": sys.executable, "args": ["-P", "-m", "greenroom", "mcp", *reached], **manifest.HUB_SERVER}
    credential = {} if token is None else {"bearer_token_env_var": manifest.TOKEN}
    return {"url": hub_url, **credential, **manifest.HUB_SERVER}


def _read_own_hub(opening: SessionOptions) -> JsonObject:
    """What a person's own settings of Codex have under the hub's name, as `greenroom connect codex` writes it."""
    home = opening.env.get("CODEX_HOME") or Path(opening.env.get("HOME", ""), ".codex")
    for folder in (Path(home), opening.directory / ".codex"):
        try:
            found = tomllib.loads((folder / "config.toml").read_text()).get("mcp_servers", {}).get(manifest.HUB)
        except (OSError, ValueError, AttributeError):
            continue  # Codex itself says what is wrong with its settings
        if isinstance(found, dict):
            return found
    return {}


def _build_settings(config: JsonObject) -> list[str]:
    """Features are read when the program starts, before there is a thread."""
    flags = {name: value for name, value in config.items() if name.startswith("features.")}
    return [part for name, value in flags.items() for part in ("-c", f"{name}={msgspec.json.encode(value).decode()}")]


def _build_socket_path(scratch: Path) -> Path:
    path = scratch / "codex.sock"
    if len(str(path).encode()) > _LONGEST_SOCKET:
        raise LaunchError("launch.long_socket", path=path)
    return path
