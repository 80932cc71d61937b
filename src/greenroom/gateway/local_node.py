"""The node of the hub's own machine: a separate program, started if it is not there, and left running on a stop."""

import asyncio
import contextlib
import fcntl
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

from greenroom.hub import Hub
from greenroom.log.directory import write_private
from greenroom.log.errors import Unavailable
from greenroom.log.ids import new_id
from greenroom.nouns.access.model import HUB, CreateCredential
from greenroom.nouns.access.queries import get_principal
from greenroom.nouns.access.tokens import new_token
from greenroom.nouns.nodes.model import NODES, JoinNode

logger = logging.getLogger(__name__)
FOLDER = "node"
TOKEN = "token"  # noqa: S105 a file's name
LOG = "node.log"
_LOOK_S = 1.0
_STEADY_S = 60.0
_LOG_BYTES = 4 * 1024 * 1024
_LAST_BYTES = 2000
_BACKOFF_S = (0.0, 1.0, 2.0, 5.0, 15.0, 60.0)


async def keep_local_node(hub: Hub) -> None:
    """See to it that the local node runs; to be run as a task. A node that keeps dying is started ever more slowly."""
    folder = hub.data / FOLDER
    failures = 0
    while True:
        try:
            if not is_running(folder):
                await asyncio.sleep(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
                failures = 0 if await _has_run_well(hub, folder) else failures + 1
        except (OSError, Unavailable) as error:
            logger.warning("the local node cannot be started now: %s", error)
            failures += 1
        await asyncio.sleep(_LOOK_S)


async def _has_run_well(hub: Hub, folder: Path) -> bool:
    """Run the node to its end: whether it ended in good order, or at least not soon."""
    began = time.monotonic()
    await ensure_local_node(hub)
    process = _start(hub.data, folder)
    await _ended(process)
    logger.warning("the local node ended with code %s: %s (see %s)", process.returncode, *last_words(folder))
    return process.returncode == 0 or time.monotonic() - began > _STEADY_S


async def _ended(process: "subprocess.Popen[bytes]") -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    handle = os.pidfd_open(process.pid)
    loop.add_reader(handle, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
        process.poll()


def last_words(folder: Path) -> tuple[str, Path]:
    """The last line that the node has written, and where it and all before it stand."""
    path = folder / LOG
    with contextlib.suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - _LAST_BYTES))
        return log.read().decode(errors="replace").strip().rpartition("\n")[2], path
    return "it has said nothing", path


def is_running(folder: Path) -> bool:
    """Whether a node's program owns the folder just now."""
    path = folder / "lock"
    if not path.exists():
        return False
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(handle)


async def ensure_local_node(hub: Hub) -> None:
    """There is a node for this machine, and its credential is in the data directory."""
    folder = hub.data / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / TOKEN
    text = path.read_text().strip() if path.exists() else ""
    if text and get_principal(hub.rows, text, hub.log.clock.now()) is not None:
        return
    token = new_token("node")
    name = f"local-{hub.instance}" if hub.store.is_shared else "local"
    local = next((node for node in hub.rows.find(NODES) if node.local and node.name == name), None)
    if local is None:
        join = JoinNode(
            by=HUB,
            node_id=new_id("node"),
            name=name,
            credential_id=token.credential_id,
            digest=token.digest,
            local=True,
        )
        await hub.log.do(join)
    else:
        await hub.log.do(
            CreateCredential(
                by=HUB,
                credential_id=token.credential_id,
                kind="node",
                name=local.name,
                digest=token.digest,
                agent_id=local.id,
            )
        )
    write_private(path, token.text)


def _start(data: Path, folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "greenroom", "node", "--local", "--data", str(data)]
    path = folder / LOG
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(folder / f"{LOG}.1")
    with path.open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
