"""`greenroom agent attach` and `agent logs`: attach to an agent's terminal, or read what it said and did."""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from greenroom.cli.client import HubClient, HubUnreachable, add_options, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.run import ENDED, show_item
from greenroom.cli.terminal import escape_line, print_notice, show_json
from greenroom.errors import Refused

_LOOK_S = 1.0


def add_to(actions: Any) -> None:
    attach = actions.add_parser(
        "attach",
        help="attach to an agent's terminal; Ctrl-B D detaches",
        description=(
            "Show an agent's terminal and type into it. Ctrl-B D detaches, Ctrl-B T takes the keyboard, "
            "Ctrl-B Ctrl-B sends one Ctrl-B. For an agent without a terminal, show its output."
        ),
        epilog="example: greenroom agent attach agt_01m7... --read-only",
    )
    add_options(attach, answers=False)
    attach.add_argument("id", metavar="ID", type=build_id_type("agt", "run"), help="the agent, or one of its runs")
    attach.add_argument("--read-only", action="store_true", help="only watch")
    attach.set_defaults(run=run_attach)
    logs = actions.add_parser(
        "logs",
        help="show what an agent said and did in its last run",
        epilog="example: greenroom agent logs agt_01m7... -f",
    )
    add_options(logs)
    logs.add_argument("id", metavar="ID", type=build_id_type("agt", "run"), help="the agent, or one of its runs")
    logs.add_argument("-f", "--follow", action="store_true", help="follow until the run ends")
    logs.set_defaults(run=run_logs)


def run_attach(args: argparse.Namespace) -> int:
    client = open_client(args)
    agent_id = _need_agent_id(client, args.id)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused.in_words("no_terminal", "Attaching needs a terminal: use `greenroom agent logs ID -f` in a pipe.")
    from greenroom.cli.attached_terminal import HOW_TO_DETACH, attach_terminal
    from greenroom.cli.detach_keys import watch_detach_keys

    how, word = attach_terminal(client.url, client.token, agent_id, args.read_only)
    if how == "none":
        print_notice(f"{escape_line(agent_id)} has no terminal; this is what it says · {HOW_TO_DETACH}:")
        with watch_detach_keys() as keys:
            return _show_log(
                client, _need_last_run(client, agent_id), follow=True, as_json=False, wait=keys.is_detach_pressed
            )
    print_notice(escape_line(word))
    return 0 if how in ("left", "ended") else 1


def run_logs(args: argparse.Namespace) -> int:
    client = open_client(args)
    run_id = args.id if args.id.startswith("run_") else _need_last_run(client, args.id)
    return _show_log(client, run_id, follow=args.follow, as_json=args.json)


def _need_agent_id(client: HubClient, given: str) -> str:
    return str(client.get("runs", given)["agent_id"] if given.startswith("run_") else client.get("agents", given)["id"])


def _need_last_run(client: HubClient, agent_id: str) -> str:
    agent_id = _need_agent_id(client, agent_id)
    found = next((run for run in client.get("runs", limit=200) if run["agent_id"] == agent_id), None)
    if found is None:
        raise Refused.in_words("no_run", f"{agent_id} has had no run lately: see `greenroom runs list`.")
    return str(found["id"])


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _show_log(
    client: HubClient, run_id: str, *, follow: bool, as_json: bool, wait: Callable[[float], bool] = _sleep
) -> int:
    """The output of a run, old and new, until it ends or `wait` says that the person has left."""
    shown, is_cut = 0, False
    while True:
        try:
            run = client.get("runs", run_id)
            if is_cut:
                print_notice("The hub is back.")
                is_cut = False
            while items := client.get("runs", run_id, "items", after=shown):
                shown = items[-1]["number"]
                for item in items:
                    show_json(item) if as_json else show_item(item)
            if not follow or run["status"] in ENDED:
                return 0
        except HubUnreachable as no:
            if not follow:
                raise
            if not is_cut:
                print_notice(f"{no} Trying again.")
            is_cut = True
        if wait(_LOOK_S):
            print_notice("You have left; the agent goes on.")
            return 0
