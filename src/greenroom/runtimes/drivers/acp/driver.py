"""Opens sessions of ACP agents: starts the process, shakes hands, creates or resumes a session, sets it up."""

import asyncio
import glob
import importlib.util
import time
from pathlib import Path

import msgspec

from greenroom import __version__
from greenroom.ids import new_secret
from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB
from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import InstalledRuntime, Opened, SessionOptions, Spawner
from greenroom.runtimes.drivers.acp.launch import AcpLaunch, plan_launch
from greenroom.runtimes.drivers.acp.session import AcpSession
from greenroom.runtimes.drivers.acp.usage_file_reader import UsageFileReader
from greenroom.runtimes.launch_error import LaunchError, build_early_end
from greenroom.runtimes.programs import find_program, write_private
from greenroom.runtimes.prompt_text import PromptQuoting
from greenroom.runtimes.tool_names import make_hub_name
from greenroom.runtimes.transports.acp import AcpError

_LOGIN_NEEDED = -32000
_PROTOCOL = 1
_POLL_S = 0.5
HELLO: JsonObject = {
    "protocolVersion": _PROTOCOL,
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "auth": {"terminal": False},
        "elicitation": {"form": {}},
    },
    "clientInfo": {"name": "greenroom", "title": "Greenroom", "version": __version__},
}
"""What the client says first; the SDK's schema knows it (a test sees to that)."""


class AcpDriver:
    """Drives every agent of one manifest. Without one, the profile's options are the manifest."""

    def __init__(self, manifest: AcpManifest | None, quoting: PromptQuoting) -> None:
        self._manifest = manifest
        self._quoting = quoting
        self.name = manifest.name if manifest else "acp"

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        if self._manifest is None:
            return InstalledRuntime(__version__, "")
        if self._manifest.libraries is not None:
            has_all = all(importlib.util.find_spec(name) for name in self._manifest.libraries)
            return InstalledRuntime(__version__, self._manifest.command[0]) if has_all else None
        return await find_program(self._manifest.command[0], list(self._manifest.version), env)

    async def open(self, opening: SessionOptions, spawner: Spawner) -> AcpSession:
        manifest = self._manifest or _read_own_manifest(opening.options)
        token = opening.token_file.read_text().strip() if opening.token_file else None
        hub = make_hub_name() if manifest.flat_names else HUB
        launch = plan_launch(manifest, opening, token, new_secret(), hub)
        for path, text in launch.files.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(path, text)
        if opening.resume and manifest.resume_waits:
            await _wait_for_files(manifest.resume_waits, opening.resume, opening.env.get("HOME", ""))
        process = await spawner.spawn(launch.command, opening.directory, {**launch.env, **self._quoting.env})
        session = AcpSession(manifest, process, self._quoting, hub)
        try:
            await _set_up(session, manifest, opening, launch)
        except ConnectionError:
            await session.close()
            words = process.last_words().strip()
            raise build_early_end(self.name, words) from None
        except AcpError as error:
            await session.close()
            key = "launch.says_log_in" if error.code == _LOGIN_NEEDED else "launch.says"
            raise LaunchError(key, program=self.name, error=error) from None
        except BaseException:
            await session.close()
            raise
        return session


async def _set_up(session: AcpSession, manifest: AcpManifest, opening: SessionOptions, launch: AcpLaunch) -> None:
    hello = await session.link.request("initialize", HELLO)
    if hello.get("protocolVersion") != _PROTOCOL:
        raise LaunchError(
            "launch.acp_version", program=manifest.name, version=hello.get("protocolVersion"), wanted=_PROTOCOL
        )
    can = hello.get("agentCapabilities") or {}
    params: JsonObject = {"cwd": str(opening.directory), "mcpServers": launch.servers}
    if launch.servers and not (can.get("mcpCapabilities") or {}).get("http"):
        params["mcpServers"] = []
    if launch.meta:
        params["_meta"] = launch.meta
    if opening.resume:
        method = _get_resume_method(manifest, can)
        if method is None:
            raise LaunchError("launch.cannot_resume", program=manifest.name)
        made = await session.link.request(method, {"sessionId": opening.resume, **params})
        if manifest.is_replay_late:
            await session.wait_for_replay()
    else:
        made = await session.link.request("session/new", params)
    id = str(opening.resume or made.get("sessionId") or "")
    await _choose_model(session, id, made, launch.model)
    if launch.mode:
        await session.link.request("session/set_mode", {"sessionId": id, "modeId": launch.mode})
    is_resumable = _get_resume_method(manifest, can) is not None
    details = {
        "agent": hello.get("agentInfo") or {},
        "hub": bool(params["mcpServers"]) or not manifest.is_hub_in_session,
    }
    preface = None if opening.resume else launch.preface
    opened = Opened(id if is_resumable else "", details)
    record = UsageFileReader(manifest.record, opening.env, id) if manifest.record else None
    session.begin(id, opened, preface=preface, is_resumed=bool(opening.resume), record=record)


async def _choose_model(session: AcpSession, id: str, made: JsonObject, model: str | None) -> None:
    """Set the model by the session's own option for it."""
    if model is None:
        return
    options = [one for one in made.get("configOptions") or [] if isinstance(one, dict)]
    option = next((one for one in options if one.get("category") == "model"), None)
    if option is None:
        raise LaunchError("launch.model_fixed")
    params = {"sessionId": id, "configId": option.get("id"), "value": model}
    await session.link.request("session/set_config_option", params)


def _get_resume_method(manifest: AcpManifest, can: JsonObject) -> str | None:
    """The method that takes an earlier session up; None if the agent cannot."""
    if manifest.resume == "told" and "resume" in (can.get("sessionCapabilities") or {}):
        return "session/resume"
    if manifest.resume != "none" and can.get("loadSession"):
        return "session/load"
    return None


async def _wait_for_files(pattern: str, session: str, home: str) -> None:
    """Wait while a file is there that loading would destroy: it is named after the minute in which it was made."""
    while True:
        minute = time.strftime("%Y-%m-%dT%H-%M", time.gmtime())
        if not any(Path(home).glob(pattern.format(minute=minute, id8=glob.escape(session[:8])))):
            return
        await asyncio.sleep(_POLL_S)


def _read_own_manifest(options: JsonObject) -> AcpManifest:
    """The manifest that a profile brings along, in options.manifest."""
    try:
        return msgspec.convert(options.get("manifest") or {}, AcpManifest)
    except msgspec.ValidationError as error:
        raise ValueError(f"options.manifest: {error}") from None
