"""A sandbox for an agent's processes: they can write only in their own directory and cannot see the hub's files."""

import os
import shutil
import subprocess
from pathlib import Path

from greenroom.node.install_prefixes import find_own_prefixes, find_program_prefixes
from greenroom.runtimes.launch_error import LaunchError

LEVELS = ("none", "bwrap")
_PATH = "/usr/bin:/usr/local/bin:/bin"
"""Where it is looked for: not on a PATH that somebody may have changed."""
_TRY_S = 60
_APART = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
_EMPTY = ("/tmp", "/run")  # noqa: S108 a folder of its own
"""What it has of its own. In /run services of the machine and of its user listen: any of them would start a program
outside of the sandbox."""
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
    """Bubblewrap around every program of one agent. It is never left out: where it cannot work the run is refused."""

    def __init__(self, hidden: list[Path], writable: list[Path], path: str = _PATH) -> None:
        found = shutil.which("bwrap", path=path)
        if found is None:
            raise LaunchError("launch.no_bwrap")
        _need_working(found)
        self._program = found
        self._hidden = hidden
        self._writable = writable

    def wrap(self, command: list[str], directory: Path, path: str = os.defpath) -> list[str]:
        """The command inside the sandbox. Its program is named by its absolute path; `path` is where scripts find
        their interpreters."""
        mounts = self._mount(directory)
        mounts.show_installed(command[0], path)
        words = [self._program, *_APART, "--ro-bind", "/", "/", *mounts.words()]
        return [*words, "--chdir", str(directory.resolve()), "--", *command]

    def find_shown(self, program: str, directory: Path, path: str = os.defpath) -> list[Path]:
        """What of Greenroom and a program is in a folder that the sandbox covers, and is shown all the same."""
        return self._mount(directory).show_installed(program, path)

    def _mount(self, directory: Path) -> "_Mounts":
        hidden = [path.resolve() for path in self._hidden if path.is_dir()]
        writable = [path.resolve() for path in [*self._writable, directory]]
        if whole := next((path for path in writable if path in hidden), None):
            raise LaunchError("launch.not_own_directory", directory=whole)
        mounts = _Mounts()
        for path in (*(Path(empty).resolve() for empty in _EMPTY), *hidden):
            mounts.cover(path, "--tmpfs", str(path))
        for path in self._hidden:
            if path.is_file():
                mounts.cover(path.resolve(), "--ro-bind", "/dev/null", str(path.resolve()))
        for kept in _RESOLVING:
            mounts.show(Path(kept), "--ro-bind-try", kept, kept)
        for path in writable:
            mounts.show(path, "--bind", str(path), str(path), is_writable=True)
        return mounts


class _Mounts:
    """The mounts of a sandbox. Of several mounts above a file the nearest decides what the agent sees."""

    def __init__(self) -> None:
        self._words: dict[Path, tuple[str, ...]] = {
            Path("/dev"): ("--dev", "/dev"),
            Path("/proc"): ("--proc", "/proc"),
        }
        self._covers: set[Path] = set()
        self._writable: set[Path] = set()

    def cover(self, path: Path, *words: str) -> None:
        self._words[path] = words
        self._covers.add(path)

    def show(self, path: Path, *words: str, is_writable: bool = False) -> None:
        self._words[path] = words
        self._covers.discard(path)
        if is_writable:
            self._writable.add(path)

    def show_installed(self, program: str, path: str) -> list[Path]:
        """Show what Greenroom and a program need to start, except hidden folders inside of it."""
        own = find_own_prefixes(self._is_writable)
        programs = find_program_prefixes(Path(program), path, self._is_writable)
        shown = [found for places in (*own.places, *programs.places) if (found := self._show_one_of(places))]
        for link, target in (own.links | programs.links).items():
            if self._is_covered(link):
                self.show(link, "--symlink", target, str(link))
        return list(dict.fromkeys(shown))

    def _show_one_of(self, places: list[Path]) -> Path | None:
        if not self._is_covered(places[-1]):
            return None
        found = next((path for path in places if self._is_covered(path) and path not in self._covers), None)
        if found is None:
            raise LaunchError("launch.sandbox_hides", path=places[-1])
        self.show(found, "--ro-bind", str(found), str(found))
        return found

    def _nearest(self, path: Path) -> Path | None:
        return next((above for above in (path, *path.parents) if above in self._words), None)

    def _is_covered(self, path: Path) -> bool:
        return self._nearest(path) in self._covers

    def _is_writable(self, path: Path) -> bool:
        return self._nearest(path) in self._writable

    def words(self) -> list[str]:
        """The options for bubblewrap, which mounts in their order: inner paths come after outer ones."""
        ordered = sorted(self._words.items(), key=lambda mount: len(mount[0].parts))
        return [word for _, words in ordered for word in words]


_working: set[str] = set()


def _need_working(program: str) -> None:
    """Try bubblewrap once: many systems do not let a user make namespaces."""
    if program in _working:
        return
    command = [program, *_APART, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_TRY_S)
    if done.returncode:
        raise LaunchError("launch.bwrap_fails", error=done.stderr.strip()[-300:])
    _working.add(program)


def make_sandbox(level: str, folder: Path, home: str | None, writable: list[Path]) -> Sandbox | None:
    """What a profile asks for. `folder` is the node's: beside it, or in the home, may be the hub's own files."""
    if level == "none":
        return None
    if level != "bwrap":
        raise LaunchError("launch.unknown_sandbox", level=level, levels=LEVELS)
    secrets = [Path(home) / name for name in (*_SECRET_FOLDERS, *_SECRET_FILES)] if home else []
    hidden = [folder.parent, folder, folder / "scratch", *secrets]
    return Sandbox(hidden, writable)
