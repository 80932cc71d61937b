"""`greenroom stop`: stops the hub of a data directory, and optionally its agents."""

import argparse
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.arg_parser import parse_seconds
from greenroom.cli.client import (
    HubClient,
    HubUnreachable,
    add_data_option,
    add_json_option,
    get_own_pid,
    get_own_url,
    read_token_file,
)
from greenroom.cli.processes import end_process, is_holder
from greenroom.cli.terminal import count_things, show_json
from greenroom.errors import Refused
from greenroom.log.data_directory import LOCK, OPERATOR_TOKEN

_WAIT_S = 60.0
_AGENTS_S = 30.0


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "stop",
        help="stop the hub of a data directory",
        description="Stop the hub of a data directory and wait until it has ended. Working agents continue under their"
        " node, and the hub finds them when it starts again. --agents also ends the node of this machine and its"
        " agents; their runs fail.",
        epilog="example: greenroom stop --agents",
    )
    add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--agents", action="store_true", help="also end the agents that run on this machine")
    says = f"seconds to wait for the end (default: {_WAIT_S:.0f})"
    parser.add_argument("--timeout", type=parse_seconds, default=_WAIT_S, metavar="SECONDS", help=says)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    data = settings.resolve_data_dir(args.data)
    pid, node = _get_hub_pid(data), _get_node_pid(data)
    if pid is None and not (args.agents and node is not None):
        raise HubUnreachable(f"No hub is running in {data}.")
    at_work = _count_active(data) if pid is not None else None
    if pid is not None and not end_process(pid, data / LOCK, args.timeout):
        raise Refused.in_words(
            "still_stopping", f"The hub (process {pid}) is stopping, but has not ended within {args.timeout:g} s."
        )
    ends_node = args.agents and node is not None
    if ends_node and node is not None and not end_process(node, data / "node" / "lock", _AGENTS_S):
        raise Refused.in_words(
            "still_stopping", f"The node (process {node}) has not ended within {_AGENTS_S:.0f} s: look at it."
        )
    if args.json:
        show_json({"hub": pid, "node": node if ends_node else None, "active_runs": at_work, "agents_ended": ends_node})
    else:
        print(f"The hub is stopped (process {pid})." if pid is not None else "No hub was running.")
        print(_describe_agents(ends_node, node, at_work))
    return 0


def _describe_agents(ends_node: bool, node: int | None, at_work: int | None) -> str:
    if ends_node:
        return "The node of this machine and its agents have ended. Their runs have failed."
    if node is None:
        return "No agent runs on this machine."
    if at_work == 0:
        return f"No run is active. The node (process {node}) waits for the hub; `greenroom stop --agents` ends it."
    many = count_things(at_work, "active run") if at_work else "Agents at work"
    verb = "continues" if at_work == 1 else "continue"
    return f"{many} {verb} under the node (process {node}) until the hub is back; `greenroom stop --agents` ends them."


def _get_hub_pid(data: Path) -> int | None:
    pid = get_own_pid(data)
    return pid if pid is not None and is_holder(pid, data / LOCK) else None


def _get_node_pid(data: Path) -> int | None:
    """The process of the node that the hub has started beside itself."""
    lock = data / "node" / "lock"
    text = lock.read_text().strip() if lock.exists() else ""
    return int(text) if text.isdecimal() and is_holder(int(text), lock) else None


def _count_active(data: Path) -> int | None:
    """How many runs are active, if the hub says so."""
    url = get_own_url(data)
    if url is None:
        return None
    try:
        return int(HubClient(url, read_token_file(data / OPERATOR_TOKEN) or "").get("metrics")["work"]["active_runs"])
    except (HubUnreachable, Refused, KeyError):
        return None
