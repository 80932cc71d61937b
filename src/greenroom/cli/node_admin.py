"""`greenroom node list|add|drain|undrain|remove`: which machines hold agents, and which of them may."""

import argparse
from typing import Any

from greenroom.cli.client import add_options, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, say, show_json, show_table
from greenroom.cli.token import need_new_file, write_private


def add_to(verbs: Any) -> None:
    listing = verbs.add_parser("list", help="list the nodes of a hub", epilog="example: greenroom node list --json")
    add_options(listing)
    listing.set_defaults(run=run_list)
    add = verbs.add_parser(
        "add",
        help="add a node; its token is shown only once",
        description=(
            "Add a node. The token is printed once, or written to --out. Copy it to the other machine and "
            "run `greenroom node --join` there."
        ),
        epilog="example: greenroom node add desk --out node.token",
    )
    add_options(add)
    add.add_argument("name", metavar="NAME", help="the name of the node")
    add.add_argument("--out", metavar="FILE", help="write the token to a new file that only you can read")
    add.set_defaults(run=run_add)
    drain = verbs.add_parser(
        "drain",
        help="give a node no new agents; it keeps the ones that it has",
        description=(
            "Give a node no new agents. It keeps the ones that it has, so that you can stop it without losing work."
        ),
        epilog="example: greenroom node drain desk",
    )
    undrain = verbs.add_parser(
        "undrain", help="give a node new agents again", epilog="example: greenroom node undrain desk"
    )
    remove = verbs.add_parser(
        "remove",
        help="remove a node and revoke its credential",
        description=(
            "Remove a node and revoke its credential. Refused while the node has agents, unless you pass "
            "--force: then their runs fail, and the node's program ends them and itself."
        ),
        epilog="example: greenroom node remove desk",
    )
    remove.add_argument("--force", action="store_true", help="remove it although it has agents")
    for parser, run in ((drain, run_drain), (undrain, run_undrain), (remove, run_remove)):
        add_options(parser)
        parser.add_argument("node", metavar="NODE", type=build_id_type("node"), help="its name or id")
        parser.set_defaults(run=run)


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
        say(f"This is the token of {escape_line(made['name'])}; it is shown this once:")
        print(made["token"])
    if not args.json:
        pin = f" --pin {made['pin']}" if made["pin"] else ""
        say("On the other machine, with the token in a file and an address of the hub that it can reach:")
        say(
            f"  greenroom node --join {escape_line(client.url)} "
            f"--token-file {escape_line(out.name if out else 'FILE')}{escape_line(pin)}"
        )
    return 0


def run_drain(args: argparse.Namespace) -> int:
    node = open_client(args).post("nodes", args.node, "drain")
    show_json(node) if args.json else print(f"{escape_line(node['name'])} keeps its agents and gets no others.")
    return 0


def run_undrain(args: argparse.Namespace) -> int:
    node = open_client(args).post("nodes", args.node, "undrain")
    show_json(node) if args.json else print(f"{escape_line(node['name'])} gets agents again.")
    return 0


def run_remove(args: argparse.Namespace) -> int:
    open_client(args).delete("nodes", args.node, force=str(args.force).lower())
    show_json({"removed": args.node}) if args.json else print(f"{escape_line(args.node)} is removed.")
    return 0
