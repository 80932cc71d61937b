"""The program behind a driver: whether it is installed, how to call it, and its private files."""

import asyncio
import contextlib
import os
import re
import shutil
import stat
from pathlib import Path

from greenroom.runtimes.contract import InstalledRuntime, SessionOptions
from greenroom.runtimes.launch_error import LaunchError

_VERSION_S = 20.0


async def find_program(name: str, version: list[str], env: dict[str, str]) -> InstalledRuntime | None:
    """Where a program is and what it says of its version; None if it is not there or cannot even say that."""
    path = shutil.which(name, path=env.get("PATH"))
    told = await ask_program([path, *version], env, _VERSION_S) if path is not None else None
    found = re.search(rb"\d+\.\d+[\w.+-]*", told) if told is not None else None
    return InstalledRuntime(found[0].decode().rstrip("."), path) if path is not None and found else None


async def ask_program(
    command: list[str], env: dict[str, str], limit_s: float, directory: Path | None = None
) -> bytes | None:
    """What a program prints; None if it is not there, fails, or takes too long."""
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, env=env, cwd=directory, stdin=null, stdout=pipe, stderr=null
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(limit_s):
            told, _ = await process.communicate()
    except TimeoutError:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return told if process.returncode == 0 else None


def need_command(opening: SessionOptions, default: list[str]) -> list[str]:
    """What the profile says is started, else the driver's own; raises ValueError if that is not installed."""
    if opening.command:
        return opening.command
    if shutil.which(default[0], path=opening.env.get("PATH")) is None:
        raise LaunchError("launch.not_installed", program=default[0])
    return default


def read_regular(path: Path, begin: int, most: int) -> bytes:
    """Some of a file in whose place somebody could have put anything; nothing if it is no plain file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        file.seek(begin)
        return file.read(most)


def write_private(path: Path, text: str) -> Path:
    """A file that only its owner can read; a link in its place is refused."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return path
