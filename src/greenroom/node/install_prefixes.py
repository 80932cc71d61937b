"""Where programs are installed, so that a sandbox that hides the folder around them can still show them."""

import os
import shutil
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import greenroom
from greenroom.runtimes.launch_error import LaunchError

_MOST_LINKS = 40
_FIRST_LINE = 4096


class InstallPrefixes(NamedTuple):
    """What must be there for a program to start, as paths without links, and the links that lead to it."""

    places: list[list[Path]]
    """For each thing needed the folders that hold it, the preferred one first."""
    links: dict[Path, str]


def find_own_prefixes(is_foreign: Callable[[Path], bool]) -> InstallPrefixes:
    """Greenroom's own: its interpreter, its environment, its source and the packages that it uses."""
    package = Path(greenroom.__file__).parent
    places, links = find_program_prefixes(Path(sys.executable), os.defpath, is_foreign)
    packages = [[Path(folder)] for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]
    for alternatives in ([Path(sys.prefix)], [Path(sys.base_prefix)], [package.parent, package], *packages):
        found = [follow_links(folder, is_foreign) for folder in alternatives]
        places.append([files[-1] for files, _ in found])
        links.update(found[0][1])
    return InstallPrefixes(places, links)


def find_program_prefixes(program: Path, path: str, is_foreign: Callable[[Path], bool]) -> InstallPrefixes:
    """A program's: every file from link to link and from script to interpreter. `is_foreign` says which files an agent
    may have changed: these lead nowhere, or an agent could have anything shown to its next run."""
    places: list[list[Path]] = []
    links: dict[Path, str] = {}
    seen: set[Path] = set()
    waiting = [program]
    while waiting:
        files, crossed = follow_links(waiting.pop(), is_foreign)
        links.update(crossed)
        for file in files:
            places.append(_find_places(file))
        real = files[-1]
        if real not in seen and not is_foreign(real):
            seen.add(real)
            waiting += _find_interpreter(real, path)
    return InstallPrefixes(places, links)


def follow_links(path: Path, is_foreign: Callable[[Path], bool]) -> tuple[list[Path], dict[Path, str]]:
    """The files that a path names one after the other, link by link, and every link on the way. All are named by their
    folder's real path. A foreign link is not followed."""
    files: list[Path] = []
    links: dict[Path, str] = {}
    at, parts, crossed = Path("/"), deque(path.parts[1:]), 0
    while parts:
        part = parts.popleft()
        here = at.parent if part == ".." else at / part
        if not here.is_symlink():
            at = here
            continue
        crossed += 1
        if crossed > _MOST_LINKS:
            raise LaunchError("launch.link_loop", path=path)
        if not parts:
            files.append(here)
        if is_foreign(here):
            return files or [here], links
        target = here.readlink()
        links[here] = str(target)
        at = Path("/") if target.is_absolute() else at
        parts.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
    return [*files, at], links


def _find_places(file: Path) -> list[Path]:
    """The folders that may be shown for a program: with what belongs to it, or else the file alone."""
    modules = [folder for folder in file.parents if folder.name == "node_modules"][-1:]
    environment = [folder for folder in file.parents if (folder / "pyvenv.cfg").is_file()][:1]
    prefix = [file.parent.parent] if file.parent.name in ("bin", "sbin") else []
    return [*modules, *environment, *prefix, file.parent, file]


def _find_interpreter(file: Path, path: str) -> list[Path]:
    """What a script says in its first line that it is run by."""
    if not os.access(file, os.R_OK):  # then it is no script, for a shell could not read it either
        return []
    with file.open("rb") as opened:
        first = opened.readline(_FIRST_LINE)
    if not first.startswith(b"#!"):
        return []
    words = os.fsdecode(first[2:]).split()
    if words and Path(words[0]).name == "env":
        names = [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]
        return [Path(words[0]), *(Path(found) for name in names if (found := shutil.which(name, path=path)))]
    return [Path(word) for word in words[:1] if word.startswith("/")]
