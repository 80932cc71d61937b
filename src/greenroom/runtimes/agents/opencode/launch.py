"""Plans the start of OpenCode from a session's options: command, environment, private files."""

import json
from pathlib import Path

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.opencode import manifest
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.drivers.acp.launch import merge_objects
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.programs import need_command


class OpencodeLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to start the server. Secrets are in `env` only."""

    program: list[str]
    command: list[str]
    env: dict[str, str]
    files: dict[Path, str]


def plan_launch(opening: SessionOptions, token: str | None, password: str, hub: str) -> OpencodeLaunch:
    """What to start; the hub is the server `hub`. Raises ValueError when the profile's own configuration is no JSON, or
    nothing is installed."""
    program = need_command(opening, manifest.COMMAND)
    if program[-1] == manifest.ACP:  # a profile may name the command for either way
        program = program[:-1]
    config: JsonObject = merge_objects(manifest.make_config(hub), _read_own_config(opening.env))
    files: dict[Path, str] = {}
    if opening.model:
        config["model"] = opening.model
    if opening.temperature is not None:
        told = {mode: {"temperature": opening.temperature} for mode in manifest.MODES}
        config["agent"] = merge_objects(config.get("agent", {}), told)
    if opening.instructions:
        path = opening.scratch / "instructions.md"
        files[path] = opening.instructions
        config["instructions"] = [*config.get("instructions", []), str(path)]
    env = {**manifest.ENV, **opening.env, manifest.PASSWORD: password}
    if opening.hub_url:
        config["mcp"] = {**config.get("mcp", {}), hub: _build_hub_server(opening.hub_url, has_token=token is not None)}
    if token is not None:
        env[manifest.TOKEN] = token
    env[manifest.CONFIG] = json.dumps(config)
    return OpencodeLaunch(program=program, command=[*program, *manifest.SERVE], env=env, files=files)


def _build_hub_server(url: str, *, has_token: bool) -> JsonObject:
    server: JsonObject = {"type": "remote", "url": url, "enabled": True}
    if has_token:
        server["headers"] = {"Authorization": f"Bearer {{env:{manifest.TOKEN}}}"}
    return server


def _read_own_config(env: dict[str, str]) -> JsonObject:
    try:
        found = json.loads(env.get(manifest.CONFIG, "{}"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise LaunchError("launch.not_json", variable=manifest.CONFIG)
    return found
