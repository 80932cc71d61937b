"""`greenroom me`: who you are to the hub, and the name that others see."""

import argparse
from typing import Any

from greenroom.cli.client import add_options, open_client
from greenroom.cli.terminal import escape_line, show_json


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "me",
        help="show who you are to the hub, and change your name",
        description="Show who you are to the hub. With --name, change the name that others see beside your messages,"
        " answers and everything else you do. All your tokens and logins share it.",
        epilog='example: greenroom me --name "Ana Lima"',
    )
    add_options(parser)
    parser.add_argument("--name", help="your new name")
    parser.set_defaults(run=run_me)


def run_me(args: argparse.Namespace) -> int:
    client = open_client(args)
    me = client.get("me") if args.name is None else client.put("me", "name", body={"name": args.name})
    if args.json:
        show_json(me)
        return 0
    rows = (("name", me["name"]), ("kind", me["kind"]), ("rights", ", ".join(me["rights"])), ("id", me["id"]))
    for title, value in rows:
        print(f"{title:8} {escape_line(value)}")
    return 0
