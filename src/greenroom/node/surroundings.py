"""What an agent's process is given: a directory, an environment by allow-list, and its credential in a file."""

import os
import subprocess
from pathlib import Path

from greenroom.gateway import frames
from greenroom.nouns.agents.profiles import Definition
from greenroom.runtimes.contract import Opening

_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSL_CERT_FILE")
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "NO_UPDATE_NOTIFIER": "1",
}


def make_opening(
    folder: Path, agent_id: str, order: frames.Ordered, definition: Definition, mcp_url: str, env: dict[str, str]
) -> Opening:
    """All that a driver needs to open this agent's session."""
    scratch = folder / "scratch" / agent_id
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    token_file = _private(scratch / "token", order.token or "")
    directory = _directory(folder, agent_id, definition)
    thread_id, topic = order.body.get("thread_id") or "", order.body.get("thread_topic") or ""
    values = {
        "{thread_id}": thread_id,
        "{thread_topic}": topic,
        "{bus_address}": mcp_url.removesuffix("/mcp"),
        "{agent_id}": agent_id,
        "{token_file}": str(token_file),
        "{prompt}": str(order.body.get("prompt") or ""),
    }
    return Opening(
        command=[fill(argument, values) for argument in definition.command],
        directory=directory,
        scratch=scratch,
        env=environment(definition, env),
        hub_url=mcp_url,
        token_file=token_file,
        model=definition.model,
        instructions=definition.instructions,
        resume=order.body.get("session"),
        options=definition.options,
    )


def fill(argument: str, values: dict[str, str]) -> str:
    """Put values into one argument of a command. It stays one argument, and what is put in is not looked at again."""
    out, rest = [], argument
    while rest:
        at = min((rest.find(name) for name in values if name in rest), default=-1)
        if at < 0:
            out.append(rest)
            break
        name = next(name for name in values if rest.startswith(name, at))
        if at == 0 and not out and values[name][:1] in ("-", "@"):
            raise ValueError(f"{name} begins with '{values[name][:1]}', which a program could take for an option")
        out += [rest[:at], values[name]]
        rest = rest[at + len(name) :]
    return "".join(out)


def environment(definition: Definition, env: dict[str, str]) -> dict[str, str]:
    """The agent's whole environment: a few variables everybody needs, those the profile names, and its own."""
    passed = {name: env[name] for name in (*_PASSED, *definition.pass_env) if name in env}
    return {**_QUIET, **passed, **definition.env}


def _directory(folder: Path, agent_id: str, definition: Definition) -> Path:
    if definition.directory is None:
        own = folder / "work" / agent_id
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        return own
    directory = Path(definition.directory).expanduser()
    if not directory.is_dir():
        raise ValueError(f"the profile's directory {directory} is not there")
    if not definition.worktree:
        return directory
    tree = folder / "worktrees" / agent_id
    if not tree.exists():
        command = ["git", "-C", str(directory), "worktree", "add", "--detach", str(tree)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise ValueError(f"git could not make a worktree of {directory}: {made.stderr.strip()}")
    return tree


def _private(path: Path, text: str) -> Path:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return path
