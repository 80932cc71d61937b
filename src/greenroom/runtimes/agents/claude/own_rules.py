"""What a folder's own Claude Code settings allow: Claude Code would not ask, so no policy would see the call."""

import json
from pathlib import Path

from greenroom.json_types import JsonObject

ASKING: JsonObject = {"permissions": {"ask": ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch"]}}
"""Settings that have it ask all the same: of two of its rules it goes by the one that asks."""
_FILES = (".claude/settings.json", ".claude/settings.local.json")
_HARMLESS = {"deny", "ask"}


def has_own_rules(directory: Path, home: str) -> bool:
    """Whether a folder, or one above it, spares its agents the asking. What a person's home says is their own word."""
    folders = [folder for folder in (directory, *directory.parents) if str(folder) != home]
    return any(_allows(folder / file) for folder in folders for file in _FILES)


def _allows(path: Path) -> bool:
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True  # Claude Code may make more of it than we do
    rules = found.get("permissions", {}) if isinstance(found, dict) else None
    return not isinstance(rules, dict) or bool(set(rules) - _HARMLESS) or "hooks" in found
