"""`greenroom node list|add|drain|undrain|remove`: manage the nodes of a hub."""

import argparse
from typing import Any

from greenroom.cli.client import open_client
from greenroom.cli.terminal import escape_line, print_notice, show_json, show_table
from greenroom.cli.token import need_new_file, write_private
from greenroom.cli.verb_group import VerbGroup
from greenroom.cli.verbs import add_verbs
from greenroom.rules.nodes.verbs import NODE_VERBS
from greenroom.rules.runs.verbs import NODE_REMOVAL_VERBS


def add_to(verbs: Any) -> None:
    group = VerbGroup("node", verbs)
    group.add("list", run_list, "list the nodes of a hub", "list --json")
    add = group.add(
        "add",
        run_add,
        "add a node; its token is shown only once",
        "add desk --out node.token",
        "Add a node. The token is printed once, or written to --out. Copy it to the other machine and "
        "run `greenroom node --join` there.",
    )
    add.add_argument("name", metavar="NAME", help="the name of the node")
    add.add_argument("--out", metavar="FILE", help="write the token to a new file that only you can read")
    add_verbs(verbs, (*NODE_VERBS, *NODE_REMOVAL_VERBS))


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("nodes")
    if args.json:
        show_json(found)
    else:
        rows = [
            (n["id"], _describe_state(n), n.get("capacity", 0), ", ".join(n.get("labels", ())), n["name"])
            for n in found
        ]
        show_table(rows, ("id", "is", "room", "labels", "name"), "No nodes found.")
    return 0


def _describe_state(node: dict[str, Any]) -> str:
    state = str(node.get("state", "new"))
    return f"{state}, draining" if node.get("draining") else state


def run_add(args: argparse.Namespace) -> int:
    out = need_new_file(args.out)
    client = open_client(args)
    made = client.post("nodes", body={"name": args.name})
    if out:
        write_private(out, made["token"] + "\n")
        made = {**made, "token": None, "file": str(out)}
    if args.json:
        show_json(made)
    elif out:
        print(f"The token of {escape_line(made['name'])} is in {escape_line(out)}.")
    else:
        print_notice(f"This is the token of {escape_line(made['name'])}; it is shown this once:")
        print(made["token"])
    if not args.json:
        pin = f" --pin {made['pin']}" if made["pin"] else ""
        print_notice("On the other machine, with the token in a file and an address of the hub that it can reach:")
        print_notice(
            f"  greenroom node --join {escape_line(client.url)} "
            f"--token-file {escape_line(out.name if out else 'FILE')}{escape_line(pin)}"
        )
    return 0
