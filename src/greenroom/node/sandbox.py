"""A sandbox for an agent's processes: they write in their own directory, and the hub's files are not there for them."""

import shutil
from pathlib import Path

LEVELS = ("none", "bwrap")
_PATH = "/usr/bin:/usr/local/bin:/bin"
"""Where it is looked for: not on a PATH that somebody may have changed."""


def is_installed() -> bool:
    """Whether this machine has what a sandbox needs."""
    return shutil.which("bwrap", path=_PATH) is not None


class Sandbox:
    """Bubblewrap around every program of one agent. It is never left out: where it is missing the run is refused."""

    def __init__(self, hidden: list[Path], writable: list[Path], path: str = _PATH) -> None:
        found = shutil.which("bwrap", path=path)
        if found is None:
            raise ValueError(
                "the profile wants the sandbox 'bwrap', which is not installed on this machine: install bubblewrap,"
                ' or have an operator write sandbox = "none"'
            )
        self._program = found
        self._hidden = hidden
        self._writable = writable

    def wrap(self, command: list[str], directory: Path) -> list[str]:
        """The command inside the sandbox. What is hidden is covered last, then its own parts are given back."""
        hidden = [path.resolve() for path in self._hidden if path.is_dir()]
        writable = list(dict.fromkeys(path.resolve() for path in [*self._writable, directory]))
        inside = [path for path in writable if any(path.is_relative_to(cover) for cover in hidden)]
        words = [self._program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 its own
        for path in writable:
            if path not in inside:
                words += ["--bind", str(path), str(path)]
        for path in hidden:
            words += ["--tmpfs", str(path)]
        for path in inside:
            words += ["--bind", str(path), str(path)]
        return [*words, "--chdir", str(directory.resolve()), "--", *command]


def sandbox_for(level: str, folder: Path, home: str | None, writable: list[Path]) -> Sandbox | None:
    """What a profile asks for. `folder` is the node's: beside it, or in the home, may be the hub's own files."""
    if level == "none":
        return None
    if level != "bwrap":
        raise ValueError(f"the sandbox '{level}' is not known here: write one of {', '.join(LEVELS)}")
    hidden = [folder.parent, *([Path(home) / ".greenroom", Path(home) / ".ssh"] if home else [])]
    return Sandbox(hidden, writable)
