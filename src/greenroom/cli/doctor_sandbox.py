"""What `greenroom doctor` checks about the sandbox for agents: it works, and which hidden folders it has to show."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from greenroom.node.sandbox import is_installed, make_sandbox

_TRY_S = 60


class SandboxCheck(NamedTuple):
    """The findings, and what to do if agents cannot start in a sandbox."""

    found: str
    remedy: str = ""


def check_sandbox(data: Path, programs: list[str]) -> SandboxCheck:
    """Start Greenroom's own interpreter in a sandbox, and see whether these programs could be started, too."""
    if not is_installed():
        return SandboxCheck("bubblewrap is not installed", "install it if you want agents in a sandbox.")
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _try_sandbox(data, programs, Path(folder))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return SandboxCheck(str(error), 'profiles with sandbox = "bwrap" do not start until then.')


def _try_sandbox(data: Path, programs: list[str], folder: Path) -> SandboxCheck:
    box = make_sandbox("bwrap", data / "node", os.environ.get("HOME"), [folder])
    assert box is not None  # noqa: S101 the level is not "none"
    path = os.environ.get("PATH", os.defpath)
    shown = {str(place): None for name in (sys.executable, *programs) for place in box.find_shown(name, folder, path)}
    command = box.wrap([sys.executable, "-c", "import greenroom"], folder, path)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_TRY_S)
    if done.returncode:
        raise ValueError(f"Greenroom does not start in it: {done.stderr.strip()[-300:]}")
    if not shown:
        return SandboxCheck("bubblewrap works")
    return SandboxCheck(f"bubblewrap works; agents in it can read {', '.join(shown)}, to start from there")
