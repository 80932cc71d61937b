"""`greenroom watch` and `greenroom ask watch`: notify you when a new ask waits for a person."""

import argparse
import shutil
import subprocess
import sys
import time
from typing import Any

from greenroom.cli.client import HubClient, HubUnreachable, add_options, is_temporary, open_client
from greenroom.cli.terminal import escape_line, format_id, print_notice, show_json
from greenroom.errors import Refused

_WAIT_S = 25.0
_RETRY_S = 2.0


def add_to(verbs: Any) -> None:
    add_watch(verbs, "greenroom watch")


def add_watch(verbs: Any, example: str) -> None:
    """The verb, at the top and below `ask`."""
    parser = verbs.add_parser("watch", help="notify you of every new ask, until Ctrl-C", epilog=f"example: {example}")
    add_options(parser)
    parser.add_argument("--quiet", action="store_true", help="print, without a notification")
    parser.set_defaults(run=run_watch)


def run_watch(args: argparse.Namespace) -> int:
    """Report open asks, new ones, and who answered; continues across restarts of the hub."""
    client = open_client(args)
    page = client.get("asks", limit=1, state="all", before=2**53 - 1)
    after = page["asks"][0]["seq"] if page["asks"] else 0
    for ask in client.get("asks", limit=500)["asks"]:
        _show_ask(ask, args, ring=False)
    if not args.json:
        print_notice("watching; Ctrl-C ends it")
    while True:
        for ask in _wait_for_changes(client, after):
            after = ask["seq"]
            _show_ask(ask, args, ring=not args.quiet)


def _wait_for_changes(client: HubClient, after: int) -> list[dict[str, Any]]:
    """What has changed since, or nothing after a while; waits for a hub that is away."""
    try:
        page = client.get("asks", state="all", after=after, for_s=_WAIT_S, limit=500, timeout_s=_WAIT_S + 15)
        found: list[dict[str, Any]] = page["asks"]
        return found
    except (HubUnreachable, Refused) as no:
        if not is_temporary(no):
            raise
        time.sleep(_RETRY_S)
        return []


def _show_ask(ask: dict[str, Any], args: argparse.Namespace, *, ring: bool) -> None:
    if ask.get("snoozed_until", 0) > time.time() * 1000:
        return
    if args.json:
        show_json(ask)
    elif ask["state"] == "open":
        mark = {"high": "!!", "medium": "! "}.get(ask.get("risk", "low"), "  ")
        soon = "  (will soon be refused by silence)" if ask.get("warned") else ""
        told = f"{escape_line(ask['asker'].get('name', ''))}: {escape_line(ask['title'])}{soon}"
        print(f"{mark} {format_id(ask['id'])}  {ask['kind']}  {told}", flush=True)
    else:
        answer = ask.get("answer", {})
        who = f" by {escape_line(answer.get('rule') or answer['name'])}: {answer['verdict']}" if answer else ""
        print(f"   {format_id(ask['id'])}  {ask['state']}{who}", flush=True)
    if ring and ask["state"] == "open":
        ring_bell(f"{ask['asker'].get('name', 'An agent')} waits for you", ask["title"])


def ring_bell(title: str, text: str) -> None:
    """A notification of the desktop where there is one, else the bell of the terminal."""
    if shutil.which("notify-send"):
        command = ["notify-send", "--app-name=Greenroom", "--", escape_line(title), escape_line(text)]
    elif shutil.which("osascript"):
        script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        command = ["osascript", "-e", script, escape_line(title), escape_line(text)]
    else:
        command = []
    if not _try_command(command):
        sys.stderr.write("\a")
        sys.stderr.flush()


def _try_command(command: list[str]) -> bool:
    try:
        return bool(command) and subprocess.run(command, check=False, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
