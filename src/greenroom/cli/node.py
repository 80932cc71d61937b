"""`greenroom node`: hold agent processes for a hub, on this machine or another."""

import argparse
import asyncio
import contextlib
import fcntl
import ipaddress
import logging
import os
import signal
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from greenroom import settings
from greenroom.cli import nodes
from greenroom.log.errors import Refused


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "node",
        help="hold agent processes for a hub",
        description="Hold agent processes for a hub. It dials the hub, and holds its agents on while that is away.",
        epilog="example: greenroom node --join https://hub.example:39765 --token-file node.token --label gpu",
    )
    parser.add_argument("--data", help="data directory (default: $GREENROOM_DATA, else ~/.greenroom)")
    parser.add_argument("--join", metavar="URL", help="the hub to hold agents for")
    parser.add_argument("--token-file", help="the node's credential: see `greenroom node add`")
    parser.add_argument("--label", action="append", default=[], help="a label that profiles can ask for (repeatable)")
    parser.add_argument("--capacity", type=int, default=16, help="how many runs at once (default: 16)")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="dial http:// beyond this machine, where everybody between can read it",
    )
    parser.add_argument("--local", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)
    nodes.add_to(parser.add_subparsers(dest="action", metavar="ACTION"))


def run(args: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    os.umask(0o077)
    folder = settings.data_dir(args.data) / "node"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused("node_running", f"A node is running in {folder} already.") from None
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    asyncio.run(_hold(args, folder))
    return 0


async def _hold(args: argparse.Namespace, folder: Path) -> None:
    from greenroom.node.program import NodeProgram, local_address, read_token
    from greenroom.runtimes.drivers import DRIVERS

    if args.local:
        address = local_address(folder.parent / "hub.json", folder / "token")
    elif args.join and args.token_file:
        _need_safe(args.join, args.insecure)
        token_file = Path(args.token_file)

        def address() -> tuple[str, str]:
            return args.join.rstrip("/"), read_token(token_file)

    else:
        raise Refused("bad_use", "Say which hub: --join URL --token-file FILE.")
    labels = [*args.label, socket.gethostname()]
    program = NodeProgram(folder, address, DRIVERS, labels, args.capacity, args.local)
    task = asyncio.create_task(program.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, program.stop)
    try:
        await task
        if program.is_dismissed:
            raise Refused("node_removed", "This node was removed from its hub: let it in anew by `greenroom node add`.")
    except asyncio.CancelledError:
        logging.getLogger(__name__).info("stopped")


def _need_safe(url: str, is_insecure_meant: bool) -> None:
    """A node's credential and all that agents say go over this connection."""
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname:
        raise Refused("bad_url", f"{url!r} is no address of a hub: write https://hub.example:39765, for example.")
    if found.scheme == "https" or found.hostname == "localhost":
        return
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(found.hostname).is_loopback:
            return
    if not is_insecure_meant:
        raise Refused(
            "insecure_join",
            f"{url} is not encrypted: put a proxy with a certificate before the hub and join https://, or tunnel it to"
            " this machine. If the network is yours alone, say --insecure.",
        )
    logging.getLogger(__name__).warning("the connection to %s is not encrypted (--insecure)", url)
