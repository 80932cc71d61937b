"""What an agent changed in its git worktree during a run."""

import subprocess
from pathlib import Path

from greenroom.link.reports import WorktreeChanged
from greenroom.node.worktrees import run_git

_MOST_CHARS = 100_000
_MOST_NEW = 100
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
"""No program that a repository names is run to show a difference."""


class WorktreeChanges:
    """Compares the worktree with the commit that the run began at."""

    def __init__(self) -> None:
        self._tree: Path | None = None
        self._where: list[str] = []
        """Which repository it is. The agent could have its worktree name another, with programs for git to run."""
        self._base = ""

    def begin(self, repository: Path | None, tree: Path) -> None:
        """A run begins, in a worktree of a repository or elsewhere. Blocks."""
        self._tree, self._base = None, ""
        if repository is None:
            return
        common = run_git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout.strip()
        self._where = [f"--git-dir={common}/worktrees/{tree.name}", f"--work-tree={tree}"]
        self._base = run_git(tree, *self._where, "rev-parse", "--verify", "HEAD").stdout.strip()
        self._tree = tree if self._base else None

    def find(self) -> WorktreeChanged | None:
        """The changes so far; None when there are none, or git fails. Blocks."""
        if self._tree is None:
            return None
        try:
            diff = self._diff(self._tree)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if not diff:
            return None
        return WorktreeChanged(self._base, diff[:_MOST_CHARS], is_cut=len(diff) > _MOST_CHARS)

    def _diff(self, tree: Path) -> str:
        parts = [self._git(tree, "diff", *_PLAIN, self._base)]
        for name in self._git(tree, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:_MOST_NEW]:
            if name:
                parts.append(self._git(tree, "diff", *_PLAIN, "--no-index", "--", "/dev/null", name))
        return "".join(parts)

    def _git(self, tree: Path, *words: str) -> str:
        return run_git(tree, *self._where, *words).stdout
