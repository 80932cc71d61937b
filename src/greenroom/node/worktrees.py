"""Git on a node: a worktree with a branch of its own for an agent, and the branch of a folder."""

import subprocess
from pathlib import Path

from greenroom.runtimes.launch_error import LaunchError

_GIT_S = 300


def run_git(directory: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Call git in a directory in which an agent may have planted hooks."""
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-C", str(directory), *words]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_GIT_S)


def build_branch_name(agent_id: str) -> str:
    return f"greenroom/{agent_id}"


def make_worktree(directory: Path, tree: Path, agent_id: str) -> None:
    """Make an agent's worktree on its own branch, which is new unless the agent has worked there before."""
    branch = build_branch_name(agent_id)
    is_there = not run_git(directory, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}").returncode
    words = [str(tree), branch] if is_there else ["-b", branch, str(tree)]
    made = run_git(directory, "worktree", "add", *words)
    if made.returncode:
        raise LaunchError("launch.worktree", directory=directory, error=made.stderr.strip())


def remove_worktree(directory: Path, tree: Path, agent_id: str) -> None:
    """Remove an agent's worktree and its branch, unless there is work in it that is nowhere else."""
    own = f"refs/heads/{build_branch_name(agent_id)}"
    holding = run_git(tree, "for-each-ref", "--format=%(refname)", "--contains", "HEAD").stdout.split()
    if not any(ref != own for ref in holding):
        return
    removed = run_git(directory, "worktree", "remove", str(tree))  # git itself refuses if anything in it is changed
    if not removed.returncode:
        run_git(directory, "branch", "-D", build_branch_name(agent_id))


def find_branch(directory: Path) -> str:
    """The branch that a folder is on, or the commit if it is on none; empty where git knows nothing of it. Blocks."""
    try:
        branch = run_git(directory, "symbolic-ref", "--short", "--quiet", "HEAD").stdout.strip()
        return branch or run_git(directory, "rev-parse", "--short", "HEAD").stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
