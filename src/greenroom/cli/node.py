"""`greenroom node`: run agent processes for a hub, on this machine or another."""

import argparse
import asyncio
import fcntl
import logging
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli import node_admin
from greenroom.cli.arg_parser import parse_count
from greenroom.cli.hub_addresses import need_safe_url
from greenroom.cli.terminal import explain_error
from greenroom.errors import Refused

_MOST = 10_000
_PAUSE_MS = 100
_PIN = re.compile(r"[0-9a-f]{64}")


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "node",
        help="run agents on this machine for a hub; manage nodes",
        description=(
            "Run agents on this machine for a hub. The node connects to the hub, and keeps its agents "
            "running while the hub is away."
        ),
        epilog="example: greenroom node --join https://hub.example:39765 --token-file node.token --label gpu",
    )
    parser.add_argument("--data", help="data directory (default: $GREENROOM_DATA, else ~/.greenroom)")
    parser.add_argument(
        "--join",
        metavar="URL",
        action="append",
        help="the hub; repeat it for several hubs that share a log: if one is gone, the node connects to the next",
    )
    parser.add_argument(
        "--pin",
        metavar="SHA256",
        action="append",
        default=[],
        help="accept only the hub's certificate with this digest: see `greenroom node add` (repeatable)",
    )
    parser.add_argument("--token-file", help="the node's credential: see `greenroom node add`")
    parser.add_argument("--label", action="append", default=[], help="a label that profiles can require (repeatable)")
    parser.add_argument("--capacity", type=parse_count, default=16, help="how many runs at a time (default: 16)")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="allow http:// to another machine, although everybody in between can read it",
    )
    parser.add_argument("--local", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)
    node_admin.add_to(parser.add_subparsers(dest="action", metavar="ACTION"))


def run(args: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    os.umask(0o077)
    folder = settings.resolve_data_dir(args.data) / "node"
    exposed = [] if args.local else _need_usable_hub(args)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refused.in_words(
            "data_unusable", f"{folder} cannot be used ({error.strerror}): choose another --data."
        ) from error
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused.in_words("node_running", f"A node is running in {folder} already.") from None
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    asyncio.run(_run_node(args, folder, exposed))
    return 0


def _need_usable_hub(args: argparse.Namespace) -> list[str]:
    """Refuse at once what would otherwise be tried forever; the addresses over which nothing is encrypted."""
    from greenroom.node.hub_addresses import read_token

    if not args.join or not args.token_file:
        raise Refused.in_words("bad_use", "Say which hub: --join URL --token-file FILE.")
    if wrong := [pin for pin in args.pin if not _PIN.fullmatch(pin)]:
        raise Refused.in_words("bad_pin", f"{wrong[0]!r} is no digest of a certificate: `greenroom node add` shows it.")
    exposed = [url for url in args.join if need_safe_url(url, args.insecure)]
    try:
        read_token(Path(args.token_file))
    except (OSError, UnicodeDecodeError) as error:
        raise Refused.in_words(
            "token_missing", f"{args.token_file} cannot be read ({explain_error(error)})."
        ) from error
    return exposed


def _compute_capacity(args: argparse.Namespace) -> int:
    """How many agents this node holds at once, within the limit of open files. A hub sets that of its own node."""
    from greenroom.open_files import count_agents_within, count_files_for, raise_file_limit

    limit = raise_file_limit()
    most = count_agents_within(limit)
    if args.local or most >= args.capacity:
        return min(most, _MOST) if args.local else int(args.capacity)
    words = "this node may have %d files open, enough for %d agents and not for %d: raise the limit (ulimit -n %d)"
    logging.getLogger(__name__).warning(words, limit, most, args.capacity, count_files_for(args.capacity))
    return most


async def _run_node(args: argparse.Namespace, folder: Path, exposed: list[str]) -> None:
    from greenroom.link.loop_watch import LoopWatch
    from greenroom.node.hub_addresses import HubRotation, make_local_address
    from greenroom.node.program import NodeProgram
    from greenroom.runtimes.driver_list import load_drivers

    if args.local:
        address = make_local_address(folder.parent / "hub.json", folder / "token")
    else:
        for url in exposed:
            logging.getLogger(__name__).warning("the connection to %s is not encrypted (--insecure)", url)
        address = HubRotation(args.join, Path(args.token_file), args.pin, exposed)
    labels = [*args.label, socket.gethostname()]
    program = NodeProgram(folder, address, load_drivers(), labels, _compute_capacity(args), args.local)
    watching = asyncio.create_task(LoopWatch(_PAUSE_MS).run())
    task = asyncio.create_task(program.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, program.stop)
    try:
        await task
        if program.is_dismissed:
            raise Refused.in_words(
                "node_removed", "This node was removed from its hub: add it again with `greenroom node add`."
            )
    except asyncio.CancelledError:
        logging.getLogger(__name__).info("stopped")
    finally:
        watching.cancel()
