"""Whether a profile could be started on this machine: looked at, and nothing started."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from greenroom.node.sandbox import is_installed
from greenroom.node.surroundings import environment
from greenroom.nouns.agents.profiles import Definition


def find_obstacles(definition: Definition, env: Mapping[str, str]) -> list[str]:
    """What stands in the way, each with its key and what to do about it."""
    out = []
    directory = Path(definition.directory).expanduser() if definition.directory else None
    if directory is not None and not directory.is_dir():
        out.append(f"directory: {directory} is not there; make it, or name another")
    if definition.command and not _is_there(definition, env):
        out.append(f"command: {definition.command[0]} is not installed, or not on PATH")
    missing = [name for name in definition.pass_env if name not in env]
    if missing:
        out.append(f"pass_env: {', '.join(missing)} is not set where the node runs")
    if definition.sandbox == "bwrap" and not is_installed():
        out.append('sandbox: bubblewrap is not installed; install it, or write sandbox = "none"')
    return out


def _is_there(definition: Definition, env: Mapping[str, str]) -> bool:
    """A name is looked for on PATH only; a path must be whole, for the working directory is never searched."""
    program = definition.command[0]
    path = environment(definition, dict(env)).get("PATH")
    return shutil.which(program, path=path) is not None and ("/" not in program or Path(program).is_absolute())
