"""Plans the start of Claude Code from a session's options: command, environment, private files."""

import json
import uuid
from pathlib import Path

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.claude import manifest
from greenroom.runtimes.agents.claude.hooks import build_hook_settings
from greenroom.runtimes.agents.claude.options import ClaudeOptions
from greenroom.runtimes.agents.claude.own_rules import ASKING, has_own_rules
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.programs import need_command

HOOKS = "hooks"
"""The folder in which its hooks report what the terminal program does."""


class ClaudeLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to start. Secrets are in `env` only."""

    session: str
    command: list[str]
    env: dict[str, str]
    files: dict[Path, str]
    options: ClaudeOptions


def plan_launch(opening: SessionOptions, token: str | None) -> ClaudeLaunch:
    """What to start. Raises ValueError when the options are wrong, or nothing is installed."""
    try:
        options = msgspec.convert(opening.options, ClaudeOptions)
    except msgspec.ValidationError as error:
        raise ValueError(f"options: {error}") from None
    session = opening.resume or str(uuid.uuid4())
    if options.attach and options.gate == "all":
        raise LaunchError("launch.gate_with_attach")
    env = {**manifest.ENV, manifest.OWN_FOLDER: str(opening.scratch), **opening.env, **manifest.NO_FILE_MENTIONS}
    files: dict[Path, str] = {}
    arguments: list[str] = [*manifest.STREAM]
    mode: str = options.permission_mode
    is_wary = mode == manifest.DEFAULT_PERMISSION_MODE and has_own_rules(opening.directory, env.get("HOME", ""))
    # A folder's own settings have an environment too, which goes before that of the process.
    settings: JsonObject = {"env": manifest.NO_FILE_MENTIONS, **(ASKING if is_wary else {})}
    if options.attach:
        arguments = []
        settings |= build_hook_settings(opening.scratch / HOOKS)
        mode = manifest.ASKING_MODE if mode == manifest.DEFAULT_PERMISSION_MODE else mode
    path = opening.scratch / "settings.json"
    files[path] = json.dumps(settings)
    arguments += [manifest.SETTINGS, str(path)]
    arguments += [manifest.OWN_SERVERS, manifest.PERMISSION_MODE, mode]
    arguments += [] if opening.may_spawn else manifest.NO_HELPERS
    arguments += [manifest.RESUME if opening.resume else manifest.NEW_SESSION, session]
    if opening.model:
        arguments += [manifest.MODEL, opening.model]
    if opening.instructions:
        path = opening.scratch / "instructions.md"
        files[path] = opening.instructions
        arguments += [manifest.INSTRUCTIONS, str(path)]
    if opening.hub_url:
        path = opening.scratch / "mcp.json"
        files[path] = json.dumps(
            {"mcpServers": {manifest.HUB: _build_hub_server(opening.hub_url, has_token=token is not None)}}
        )
        arguments += [manifest.MCP_CONFIG, str(path), manifest.ALLOWED_TOOLS, manifest.HUB_TOOLS]
    if token is not None:
        env[manifest.TOKEN] = token
    command = [*need_command(opening, manifest.COMMAND), *arguments]
    return ClaudeLaunch(session=session, command=command, env=env, files=files, options=options)


def _build_hub_server(url: str, *, has_token: bool) -> JsonObject:
    server: JsonObject = {"type": "http", "url": url}
    if has_token:
        server["headers"] = {"Authorization": f"Bearer ${{{manifest.TOKEN}}}"}
    # Otherwise the model is shown the names only, and has to search for each tool first.
    return {**server, "alwaysLoad": True}
