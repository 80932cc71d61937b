"""Opens sessions of Codex."""

from greenroom import __version__
from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.codex import manifest
from greenroom.runtimes.agents.codex.launch import CodexLaunch, plan_launch
from greenroom.runtimes.agents.codex.session import CodexSession
from greenroom.runtimes.agents.codex.socket_lines import connect
from greenroom.runtimes.attachable import AttachCommand
from greenroom.runtimes.contract import InstalledRuntime, Opened, Process, SessionOptions, Spawner
from greenroom.runtimes.launch_error import LaunchError, build_early_end, explain_failure
from greenroom.runtimes.programs import find_program

_HELLO = {
    "clientInfo": {"name": "greenroom", "title": "Greenroom", "version": __version__},
    "capabilities": {"experimentalApi": True},
}


class CodexDriver:
    """Drives Codex."""

    name = manifest.NAME

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        return await find_program(manifest.COMMAND[0], manifest.VERSION, env)

    async def open(self, opening: SessionOptions, spawner: Spawner) -> CodexSession:
        token = opening.token_file.read_text().strip() if opening.token_file else None
        launch = plan_launch(opening, token)
        if launch.socket:
            launch.socket.unlink(missing_ok=True)
        process = await spawner.spawn(launch.command, opening.directory, launch.env)
        try:
            return await _open_session(process, launch, has_hub=opening.hub_url is not None)
        except ConnectionError:
            words = process.last_words().strip()
            raise build_early_end("Codex", words) from None
        except ValueError as error:
            raise LaunchError("launch.says", program="Codex", error=explain_failure(error)) from None


async def _open_session(process: Process, launch: CodexLaunch, *, has_hub: bool) -> CodexSession:
    """Shake hands and open the thread. Nothing of the process is left when that fails."""
    try:
        lines = await connect(launch.socket, process) if launch.socket else None
    except BaseException:
        await process.end()
        raise
    session = CodexSession(process, lines)
    try:
        await session.request("initialize", _HELLO)
        await session.notify("initialized")
        made = await session.request(launch.method, launch.params)
    except BaseException:
        await session.close()
        raise
    thread: JsonObject = made.get("thread") or {}
    id = str(thread.get("id") or "")
    attach_command = None
    if launch.socket:
        attach_command = AttachCommand(
            [*launch.program, *manifest.ATTACH, id, manifest.REMOTE, f"unix://{launch.socket}"]
        )
    details = {"agent": {"name": "Codex", "version": thread.get("cliVersion")}, "hub": has_hub}
    session.begin(Opened(id, details), made.get("model"), attach_command)
    return session
