"""Resolves the links in a call's paths on this machine, because the hub cannot look."""

import logging
import os
import posixpath
from pathlib import Path
from typing import Any, NamedTuple

from greenroom.link.policy_facts.arguments import MOST_FILES
from greenroom.runtimes.call_facts import find_path_texts
from greenroom.runtimes.tool_kinds import get_tool_kind

logger = logging.getLogger(__name__)


class CallPaths(NamedTuple):
    """Where a call would run, and what the paths that it names really are."""

    directory: str
    resolved: dict[str, str] = {}
    """Those that lead elsewhere than they say."""
    is_own: bool = False
    """Whether one is in the hub's or the node's own directory."""


def resolve_call_paths(directory: Path, tool: str, arguments: Any, hidden: Path | None = None) -> CallPaths:
    """Where a call would run, those of its paths that lead elsewhere than they say, and whether any is hidden: in the
    hub's or the node's own directory, wherever that is. Only the agent's own folder there is not."""
    base = os.path.realpath(directory)
    own = os.path.realpath(hidden) if hidden is not None else None
    is_search = get_tool_kind(tool) == "search"
    resolved = {}
    is_own = False
    try:
        texts = find_path_texts(tool, arguments)
    except (ValueError, RecursionError) as error:  # the hub judges it without our help then
        logger.warning("the paths of a call of %s cannot be looked at: %s", tool[:100], error)
        return CallPaths(base)
    for text in texts[:MOST_FILES]:
        if "\x00" in text:
            continue
        plain = posixpath.normpath(posixpath.join(base, text.removeprefix("file://")))
        real = os.path.realpath(Path(base, Path(text.removeprefix("file://")).expanduser()))
        if real != plain:
            resolved[text] = real
        if own is not None and not (_is_in(base, own) and _is_in(real, base)):
            is_own = is_own or _is_in(real, own) or (is_search and _is_in(own, real))
    return CallPaths(base, resolved, is_own)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
