"""How many files a process may have open, and how many agents that allows."""

import resource

PER_AGENT = 8
"""Pipes, a handle of its process, and two connections while it calls a tool of the hub."""
_OWN = 64
_MOST = 1 << 20
"""The value without a limit: more would only make tables large."""


def raise_file_limit() -> int:
    """Raise this process's limit as far as it may be raised; how many files it may have open then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _MOST if soft == resource.RLIM_INFINITY else soft


def count_agents_within(limit: int) -> int:
    """How many agents a node may hold that can have so many files open."""
    return max(1, (limit - _OWN) // PER_AGENT)


def count_files_for(agents: int) -> int:
    """How many files a node must be able to have open for so many agents."""
    return _OWN + agents * PER_AGENT
