"""Opens terminal programs.

Options of a profile: `prompt` is "type" (put in as if typed, the default), "argument" (the command has `{prompt}`) or
"none"; `ready` is a pattern to wait for before anything is typed; `cancel_keys` stop what the program is at (Ctrl-C).
"""

import re

from greenroom.runtimes.contract import InstalledRuntime, SessionOptions, Spawner
from greenroom.runtimes.driver_list import choose_quoting
from greenroom.runtimes.drivers.pty.session import PtySession
from greenroom.runtimes.hub_variables import build_hub_variables
from greenroom.runtimes.launch_error import LaunchError
from greenroom.runtimes.transports.pty import TerminalLine

ROWS, COLUMNS = 36, 110
_PROMPTS = ("type", "argument", "none")


class PtyDriver:
    """Drives any program that lives in a terminal."""

    name = "pty"

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        return InstalledRuntime("1", "")

    async def open(self, opening: SessionOptions, spawner: Spawner) -> PtySession:
        if not opening.command:
            raise LaunchError("launch.command_missing")
        options = opening.options
        if options.get("prompt", "type") not in _PROMPTS:
            raise LaunchError("launch.bad_prompt_option", choices=_PROMPTS)
        if "ready" in options:
            _need_pattern(str(options["ready"]))
        way = choose_quoting(self.name, opening.command, options)
        env = {**opening.env, **build_hub_variables(opening), **way.env}
        terminal = await spawner.spawn_terminal(opening.command, opening.directory, env, ROWS, COLUMNS)
        return PtySession(TerminalLine(terminal), options, way)


def _need_pattern(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise LaunchError("launch.bad_pattern", error=error) from None
