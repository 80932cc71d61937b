"""The node of the hub's own machine: a separate program that the hub starts if needed and leaves running."""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from greenroom.errors import Unavailable
from greenroom.ids import new_id
from greenroom.link.tokens import new_token
from greenroom.log.data_directory import write_private
from greenroom.open_files import count_files_for
from greenroom.rules.access.model import HUB, CreateCredential
from greenroom.rules.access.queries import get_principal
from greenroom.rules.nodes.model import NODES, JoinNode, Node
from greenroom.services.hub import Hub
from greenroom.settings import Settings

logger = logging.getLogger(__name__)
FOLDER = "node"
TOKEN = "token"  # noqa: S105 a file's name
LOG = "node.log"
_LOOK_S = 1.0
_STEADY_S = 10.0
_LOG_BYTES = 4 * 1024 * 1024
_LAST_BYTES = 2000
_BACKOFF_S = (0.0, 1.0, 2.0, 5.0)
"""Runs wait for the node, so it is never long in coming back."""


async def keep_local_node(hub: Hub) -> None:
    """See to it that the local node runs; to be run as a task. A node that keeps dying is started a little later."""
    folder = hub.data / FOLDER
    failures = 0
    while True:
        if not is_running(folder):
            began = time.monotonic()
            try:
                how = await _run_node(hub, folder)
            except (OSError, Unavailable) as error:
                how = f"cannot be started now: {error}"
            failures = 0 if time.monotonic() - began > _STEADY_S else failures
            wait_s = _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]
            failures += 1
            when = f"in {wait_s:g} s" if wait_s else "now"
            logger.warning("the local node %s; it is started again %s (its log: %s)", how, when, folder / LOG)
            await asyncio.sleep(wait_s)
        else:
            await asyncio.sleep(_LOOK_S)


async def _run_node(hub: Hub, folder: Path) -> str:
    """Run the node to its end, and say how it ended."""
    await ensure_local_node(hub)
    log = folder / LOG
    process = _start(hub.data, log)
    said_before = log.stat().st_size
    await _wait_for_exit(process)
    code = process.returncode
    if code < 0:
        return f"was killed ({signal.Signals(-code).name})"
    return f"ended with code {code}: {read_last_line(log, said_before)}"


async def _wait_for_exit(process: "subprocess.Popen[bytes]") -> None:
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


def read_last_line(log: Path, after: int = 0) -> str:
    """The last line that the node has written into its log after so many bytes."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(after, log.stat().st_size - _LAST_BYTES))
        said = file.read().decode(errors="replace").strip()
        if said:
            return said.rpartition("\n")[2]
    return "it has said nothing"


def is_running(folder: Path) -> bool:
    """Whether a node's program owns the folder at the moment."""
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


def _start(data: Path, path: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "greenroom", "node", "--local", "--data", str(data)]
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_name(f"{LOG}.1"))
    with path.open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def fit_capacity(settings: Settings, node: Node | None, told: int) -> int:
    """How many agents a node takes: as many as it says, and on the hub's own machine no more than the setting says."""
    if node is None or not node.local:
        return told
    wanted = settings.local_capacity
    if told < wanted:
        words = "this machine's node holds %d agents at once and not %d (local_capacity): raise the limit of open files"
        logger.warning(f"{words} (ulimit -n %d)", told, wanted, count_files_for(wanted))
    return min(wanted, told)
