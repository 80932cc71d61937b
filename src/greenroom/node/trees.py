"""An agent's processes as one tree that is found and ended as a whole, however they try to get away.

A mark in the environment names the tree; where a cgroup can be made the kernel holds it together as well. The node is a
subreaper, so that a process which hides by forking twice comes back to it and does not stay as a zombie.
"""

import contextlib
import ctypes
import functools
import hashlib
import logging
import os
import signal
import time
from pathlib import Path

logger = logging.getLogger(__name__)
MARK = "GREENROOM_TREE"
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_END_S = 5.0
_LOOK_S = 0.01


def become_subreaper() -> None:
    """Orphans below this process come to it and not to init."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """To be called in a fresh child: it is killed when this program is."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def family(folder: Path) -> str:
    """What the marks of one node begin with: trees that an earlier boot left are found by it, with no list of them."""
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]


def find_tree(mark: str, root: int | None = None) -> list[int]:
    """Every process that bears the mark (or one of its family) or descends from one; zombies do not count.

    The root counts while it is a child of this process, for a program may write over its own environment.
    """
    parents: dict[int, int] = {}
    found: set[int] = set()
    exact, below = f"{MARK}={mark}".encode(), f"{MARK}={mark}.".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if stat[0] in "ZX":
                continue
            parents[pid] = int(stat[1])
            names = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue  # it has ended meanwhile, or is another user's
        if any(name == exact or name.startswith(below) for name in names):
            found.add(pid)
    if root is not None and parents.get(root) == os.getpid():
        found.add(root)
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= more
    return [pid for pid in found if pid in parents and pid != os.getpid()]


def end_tree(mark: str, root: int | None = None) -> None:
    """Kill a tree, or a whole family of trees, until nothing of it is left."""
    deadline = time.monotonic() + _END_S
    while True:
        for group in _cgroups(mark):
            _kill_cgroup(group)
        left = find_tree(mark, root)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left and all(_is_removed(group) for group in _cgroups(mark)):
            return
        if time.monotonic() > deadline:
            logger.error("of the tree %s these could not be ended: %s", mark, left)
            return
        time.sleep(_LOOK_S)


def reap_adopted(ours: set[int]) -> None:
    """Collect adopted orphans that have ended. Children that somebody here waits for are left to them."""
    own = os.getsid(0)
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid in ours:
            return
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            if os.getsid(ended.si_pid) == own:
                return  # a program that this one has called; agents are in sessions of their own
            os.waitpid(ended.si_pid, os.WNOHANG)


def open_cgroup(mark: str) -> int | None:
    """A cgroup for a tree, as the file by which a child puts itself into it; None where none can be made."""
    parent = _cgroup_parent()
    if parent is None:
        return None
    group = parent / f"greenroom.{mark}"
    try:
        group.mkdir(exist_ok=True)
        return os.open(group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return None


@functools.cache
def _cgroup_parent() -> Path | None:
    """The cgroup that this program is in, where cgroups below it can be made."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        mount = next((line.split()[4] for line in lines if " - cgroup2 " in line), None)
        own = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"), None)
    except OSError:
        return None
    if mount is None or own is None:
        return None
    parent = Path(mount) / own.lstrip("/")
    return parent if os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK) else None


def _cgroups(mark: str) -> list[Path]:
    parent = _cgroup_parent()
    return [] if parent is None else [*parent.glob(f"greenroom.{mark}"), *parent.glob(f"greenroom.{mark}.*")]


def _kill_cgroup(group: Path) -> None:
    try:
        (group / "cgroup.kill").write_text("1")
    except OSError:  # a kernel that has no such file yet
        with contextlib.suppress(OSError):
            for pid in (group / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)


def _is_removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
