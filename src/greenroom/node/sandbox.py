"""A sandbox for an agent's processes: they write in their own directory, and the hub's files are not there for them."""

import shutil
from pathlib import Path

LEVELS = ("none", "bwrap")
_PATH = "/usr/bin:/usr/local/bin:/bin"
"""Where it is looked for: not on a PATH that somebody may have changed."""
_SOCKETS = "/run"
"""Where services of the machine and of its user listen: any of them would start a program outside of the sandbox."""
_RESOLVING = (
    "/run/systemd/resolve",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
)
"""What of it programs need: how names are looked up, and where one system keeps its programs."""
_SECRET_FOLDERS = (
    *(".greenroom", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla"),
    *(".config/gh", ".config/gcloud", ".config/google-chrome", ".config/chromium", ".local/share/keyrings"),
)
_SECRET_FILES = (
    *(".netrc", ".git-credentials", ".config/git/credentials", ".pypirc", ".pgpass", ".my.cnf"),
    *(".Xauthority", ".ICEauthority", ".bash_history", ".zsh_history"),
)


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
        files = [path.resolve() for path in self._hidden if path.is_file()]
        writable = list(dict.fromkeys(path.resolve() for path in [*self._writable, directory]))
        inside = [path for path in writable if any(path.is_relative_to(cover) for cover in hidden)]
        if whole := next((path for path in inside if path in hidden), None):
            raise ValueError(f"{whole} is not a directory for an agent in a sandbox: what is kept there is not its own")
        words = [self._program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 its own
        words += ["--tmpfs", _SOCKETS]
        for kept in _RESOLVING:
            words += ["--ro-bind-try", kept, kept]
        for path in writable:
            if path not in inside:
                words += ["--bind", str(path), str(path)]
        for path in hidden:
            words += ["--tmpfs", str(path)]
        for path in files:
            words += ["--ro-bind", "/dev/null", str(path)]
        for path in inside:
            words += ["--bind", str(path), str(path)]
        return [*words, "--chdir", str(directory.resolve()), "--", *command]


def sandbox_for(level: str, folder: Path, home: str | None, writable: list[Path]) -> Sandbox | None:
    """What a profile asks for. `folder` is the node's: beside it, or in the home, may be the hub's own files."""
    if level == "none":
        return None
    if level != "bwrap":
        raise ValueError(f"the sandbox '{level}' is not known here: write one of {', '.join(LEVELS)}")
    secrets = [Path(home) / name for name in (*_SECRET_FOLDERS, *_SECRET_FILES)] if home else []
    hidden = [folder.parent, folder, folder / "scratch", *secrets]
    return Sandbox(hidden, writable)
