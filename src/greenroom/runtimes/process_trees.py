"""An agent's processes as one tree, found and ended as a whole even if they try to escape.

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
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path

logger = logging.getLogger(__name__)
MARK = "GREENROOM_TREE"
_MARKED = f"{MARK}=".encode()
TREES_ARE_FOUND = sys.platform == "linux"
"""Whether this machine can list processes and their owners."""
_CGROUP = "greenroom."
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


def build_family_mark(folder: Path) -> str:
    """What the marks of one node begin with: trees that an earlier boot left are found by it, with no list of them."""
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]


def find_tree(mark: str, root: int | None = None) -> list[int]:
    """Every process that has the mark (or one of its family) or descends from one; zombies do not count.

    The root counts while it is a child of this process, because a program may overwrite its own environment.
    """
    return find_trees({mark: root})[mark]


def find_trees(roots: Mapping[str, int | None]) -> dict[str, list[int]]:
    """The processes of several trees, by their marks: one look at all processes, however many trees there are."""
    parents: dict[int, int] = {}
    found: dict[str, set[int]] = {mark: set() for mark in roots}
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
        for name in names:
            if name.startswith(_MARKED):
                for mark in _find_families(name.removeprefix(_MARKED).decode(errors="replace")) & found.keys():
                    found[mark].add(pid)
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    for mark, root in roots.items():
        if root is not None and parents.get(root) == os.getpid():
            found[mark].add(root)
    return {mark: _add_descendants(pids, children) for mark, pids in found.items()}


def _find_families(mark: str) -> set[str]:
    """A mark, and the families that it is of: `a.b` is a tree of the family `a`."""
    parts = mark.split(".")
    return {".".join(parts[:size]) for size in range(1, len(parts) + 1)}


def _add_descendants(pids: set[int], children: Mapping[int, list[int]]) -> list[int]:
    out, left = set(pids), list(pids)
    while left:
        more = [pid for pid in children.get(left.pop(), ()) if pid not in out]
        out.update(more)
        left += more
    return [pid for pid in out if pid != os.getpid()]


def end_tree(mark: str, root: int | None = None) -> None:
    """Kill a tree, or a whole family of trees, until nothing of it is left."""
    end_trees({mark: root})


def end_trees(roots: Mapping[str, int | None]) -> None:
    """Kill several trees at once, until nothing of them is left."""
    deadline = time.monotonic() + _END_S
    left = dict(roots)
    while True:
        groups = _find_cgroups(left)
        for group in groups:
            _kill_cgroup(group)
        found = find_trees(left)
        for pid in {pid for pids in found.values() for pid in pids}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        kept = [one for group in groups if not _is_removed(group) for one in _find_families(group.name[len(_CGROUP) :])]
        left = {mark: left[mark] for mark, pids in found.items() if pids or mark in kept}
        if not left:
            return
        if time.monotonic() > deadline:
            logger.error("these processes could not be ended: %s", {mark: found[mark] for mark in left})
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
    parent = _get_cgroup_parent()
    if parent is None:
        return None
    group = parent / f"{_CGROUP}{mark}"
    try:
        group.mkdir(exist_ok=True)
        return os.open(group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return None


@functools.cache
def _get_cgroup_parent() -> Path | None:
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


def _find_cgroups(marks: Collection[str]) -> list[Path]:
    parent = _get_cgroup_parent()
    if parent is None:
        return []
    return [
        one
        for one in parent.glob(f"{_CGROUP}*")
        if not _find_families(one.name.removeprefix(_CGROUP)).isdisjoint(marks)
    ]


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
