"""Plans the start of an ACP agent from its manifest and a session's options."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB
from greenroom.runtimes.acp_manifest import TOKEN, AcpManifest, ValueInjection
from greenroom.runtimes.agents import need_agent
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.launch_error import LaunchError

_PLACE = re.compile(r"\{(value|file|scratch|secret|hub)\}")


class AcpLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to start an agent and to open its session. Secrets are never in `command`."""

    command: list[str]
    env: dict[str, str]
    files: dict[Path, str]
    servers: list[JsonObject]
    meta: JsonObject
    model: str | None = None
    """The model and the mode that are still to be set in the session."""
    mode: str | None = None
    preface: str | None = None
    """What goes before the first prompt of a new session."""


class _LaunchPlan:
    """Collects what several `ValueInjection`s add to a launch."""

    def __init__(self, opening: SessionOptions, unset: list[str], secret: str, hub: str) -> None:
        self._opening = opening
        self._secret = secret
        self._hub = hub
        self.args: list[str] = []
        self.env: dict[str, str] = {}
        self.files: dict[Path, str] = {}
        self.meta: JsonObject = {}
        self.json_env: dict[str, JsonObject] = {}
        self._own = {name: value for name, value in opening.env.items() if name not in unset}

    def add(self, name: str, given: ValueInjection, value: str | float = "") -> None:
        scratch = self._opening.scratch
        path = scratch / f"{name}.md"
        values: dict[str, str | float] = {
            "value": value,
            "file": str(path),
            "scratch": str(scratch),
            "secret": self._secret,
            "hub": self._hub,
        }
        if "{value}" in given.args and str(value).startswith("-"):
            raise ValueError(f"the {name} begins with '-', which the program would take for an option")
        filled: ValueInjection = msgspec.convert(_fill_template(msgspec.to_builtins(given), values), ValueInjection)
        if filled != given and "{file}" in msgspec.json.encode(given).decode():
            self.files[path] = str(value)
        self.args += filled.args
        self.env |= filled.env
        self.meta = merge_objects(self.meta, filled.meta)
        for variable, found in filled.json_env.items():
            self.json_env[variable] = merge_objects(self.json_env.get(variable, {}), found)
        for file, text in filled.files.items():
            self.files[scratch / file] = text

    def apply_profile(self) -> None:
        """What the profile says goes before what the manifest always says."""
        self.env |= {name: value for name, value in self._own.items() if name not in self.json_env}
        for variable in self.json_env.keys() & self._own.keys():
            self.json_env[variable] = merge_objects(
                self.json_env[variable], _parse_object(variable, self._own[variable])
            )

    def environment(self) -> dict[str, str]:
        return {**self.env, **{name: json.dumps(found) for name, found in self.json_env.items()}}


def plan_launch(
    manifest: AcpManifest, opening: SessionOptions, token: str | None, secret: str, hub: str = HUB
) -> AcpLaunch:
    """What to start; the hub is the server `hub`. Raises ValueError when a variable that must hold JSON does not."""
    plan = _LaunchPlan(opening, manifest.unset, secret, hub)
    plan.add("always", manifest.always)
    if manifest.own_rules is not None:
        has_own_rules = need_agent(manifest.own_rules).has_own_rules
        if has_own_rules is not None and has_own_rules(opening.directory, opening.env.get("HOME", "")):
            plan.add("asking", manifest.asking)
    plan.apply_profile()
    mode = opening.options.get("mode") or manifest.default_mode
    for name, given, value in (
        ("model", manifest.model, opening.model),
        ("temperature", manifest.temperature, opening.temperature),
        ("mode", manifest.mode, mode),
        ("instructions", manifest.instructions, opening.instructions),
        ("hub", manifest.hub, opening.hub_url),
    ):
        if given is not None and value not in (None, ""):
            plan.add(name, given, value)
    if token is not None and manifest.credential == "variable":
        plan.env[TOKEN] = token
    return AcpLaunch(
        command=[*_build_command(manifest, opening), *plan.args],
        env=plan.environment(),
        files=plan.files,
        servers=_build_servers(manifest, opening, token, hub),
        meta=plan.meta,
        model=opening.model if manifest.model is None else None,
        mode=mode if manifest.mode is None else None,
        preface=opening.instructions if manifest.instructions is None else None,
    )


def merge_objects(below: JsonObject, above: JsonObject) -> JsonObject:
    """Two JSON objects as one; where they disagree the second is right."""
    out = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merge_objects(out[key], value) if both else value
    return out


def _build_command(manifest: AcpManifest, opening: SessionOptions) -> list[str]:
    command = opening.command or manifest.command
    if not command:
        raise LaunchError("launch.no_command")
    if opening.command or shutil.which(command[0], path=opening.env.get("PATH")):
        return command
    raise LaunchError("launch.not_installed", program=command[0])


def _build_servers(manifest: AcpManifest, opening: SessionOptions, token: str | None, hub: str) -> list[JsonObject]:
    if opening.hub_url is None or not manifest.is_hub_in_session:
        return []
    headers = []
    if token is not None:
        value = f"${{{TOKEN}}}" if manifest.credential == "variable" else token
        headers.append({"name": "Authorization", "value": f"Bearer {value}"})
    return [{"type": "http", "name": hub, "url": opening.hub_url, "headers": headers}]


def _fill_template(template: Any, values: dict[str, str | float]) -> Any:
    match template:
        case dict():
            return {_fill_template(key, values): _fill_template(value, values) for key, value in template.items()}
        case list():
            return [_fill_template(value, values) for value in template]
        case "{value}":
            return values["value"]  # a number stays one
        case str():
            return _PLACE.sub(lambda place: str(values[place[1]]), template)
        case _:
            return template


def _parse_object(variable: str, text: str) -> JsonObject:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise LaunchError("launch.not_json", variable=variable)
    return found
