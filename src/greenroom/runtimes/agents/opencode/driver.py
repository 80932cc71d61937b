"""Opens sessions of OpenCode, each on a server of its own.

OpenCode speaks ACP too, but then it reports only the tokens of the last model call, and only at the turn's end.
"""

import asyncio
import shutil
from pathlib import Path

from greenroom.ids import new_secret
from greenroom.runtimes.agents.opencode import manifest
from greenroom.runtimes.agents.opencode.launch import plan_launch
from greenroom.runtimes.agents.opencode.server import OpencodeServer, find_address
from greenroom.runtimes.agents.opencode.session import OpencodeSession
from greenroom.runtimes.attachable import AttachCommand
from greenroom.runtimes.contract import InstalledRuntime, Opened, Process, RuntimeSession, SessionOptions, Spawner
from greenroom.runtimes.launch_error import LaunchError, build_early_end, explain_failure
from greenroom.runtimes.models import explain_unknown_model
from greenroom.runtimes.programs import ask_program, find_program, write_private
from greenroom.runtimes.tool_names import make_hub_name

_MODELS_S = 45.0


class OpencodeDriver:
    """Drives OpenCode."""

    name = manifest.NAME

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        return await find_program(manifest.COMMAND[0], manifest.VERSION, env)

    async def find_models(self, command: list[str], env: dict[str, str], directory: Path) -> list[str] | None:
        program = command[:-1] if command and command[-1] == manifest.ACP else command or manifest.COMMAND
        path = shutil.which(program[0], path=env.get("PATH"))
        if path is None:
            return None
        told = await ask_program([path, *program[1:], *manifest.MODELS], {**manifest.ENV, **env}, _MODELS_S, directory)
        return told.decode(errors="replace").split() if told is not None else None

    async def open(self, opening: SessionOptions, spawner: Spawner) -> RuntimeSession:
        token = opening.token_file.read_text().strip() if opening.token_file else None
        password, hub = new_secret(), make_hub_name()
        launch = plan_launch(opening, token, password, hub)
        for path, text in launch.files.items():
            write_private(path, text)
        process = await spawner.spawn(launch.command, opening.directory, launch.env)
        try:
            server = OpencodeServer(await find_address(process), password, opening.directory)
        except BaseException as error:
            await process.end()
            if isinstance(error, ConnectionError):
                words = process.last_words().strip()
                raise build_early_end("OpenCode", words) from None
            raise
        try:
            session, opened = await _open_session(process, server, opening, hub)
        except BaseException:
            await asyncio.gather(process.end(), server.close())
            raise
        attach = [*launch.program, manifest.ATTACH, server.url, "-s", opened.session, "--dir", str(opening.directory)]
        session.begin(opened, AttachCommand(attach, {manifest.PASSWORD: password}), is_new=not opening.resume)
        return session


async def _need_model(server: OpencodeServer, model: str) -> None:
    """Raise ValueError for a model that OpenCode does not know: it would take another, and ask that."""
    found = (await server.request("GET", "/config/providers")).get("providers") or []
    known = [f"{one.get('id')}/{name}" for one in found for name in one.get("models") or {}]
    wrong = explain_unknown_model(model, known)
    if wrong is not None:
        raise LaunchError("field", name="model", problem=wrong)


async def _get_step_limit(server: OpencodeServer) -> int | None:
    """How many steps the agent of this session may take in a turn; None for any number."""
    config, agents = await server.request("GET", "/config"), await server.request("GET", "/agent")
    name = config.get("default_agent") if isinstance(config, dict) else None
    steps = [one.get("steps") for one in agents or [] if isinstance(one, dict) and one.get("name") == name]
    return steps[0] if steps and isinstance(steps[0], int) else None


async def _open_session(
    process: Process, server: OpencodeServer, opening: SessionOptions, hub: str
) -> tuple[OpencodeSession, Opened]:
    """Listen to the events, and create or find the session."""
    await server.wait_until_healthy()
    if opening.model:
        await _need_model(server, opening.model)
    await server.listen()
    try:
        if opening.resume:
            found = await server.request("GET", f"/session/{opening.resume}")
        else:
            found = await server.request("POST", "/session", {})
    except ValueError as error:
        raise LaunchError("launch.says", program="OpenCode", error=explain_failure(error)) from None
    details = {"agent": {"name": "OpenCode", "version": found.get("version")}, "hub": opening.hub_url is not None}
    return OpencodeSession(process, server, hub, await _get_step_limit(server)), Opened(str(found["id"]), details)
