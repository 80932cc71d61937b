"""`greenroom token`: credentials of people, agents and machines, and one-time codes for a browser."""

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from greenroom.cli.client import open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, format_age, format_local_time, print_notice, show_json, show_table
from greenroom.cli.thread import need_thread_id
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.rules.access.verbs import CREDENTIAL_VERBS

ENROLLING = ["read", "all", "chat", "register"]
"""The rights of a credential under which several agents register."""
_MOST_DAYS = 3650
KINDS = ("agent", "operator", "viewer", "room", "webhook")


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "token", "create, list and revoke credentials")
    create = group.add(
        "create",
        run_create,
        "create a credential; its token is shown only once",
        "create --name claude --out ~/.greenroom/claude.token",
        "Create a credential. The token is printed once. The hub stores only its digest.",
    )
    create.add_argument("--name", help="a name for your lists (with --room: the room's name)")
    create.add_argument("--kind", choices=KINDS, help="who will use it (default: agent; room with --room)")
    create.add_argument("--enrol", action="store_true", help="for an agent that may register further agents")
    create.add_argument(
        "--agent",
        metavar="ID",
        type=build_id_type("agt"),
        help="another credential for this agent (default: a new agent)",
    )
    create.add_argument("--thread", action="append", help="only for this thread, by id or topic (repeatable)")
    create.add_argument(
        "--room", metavar="NAME", help="for the people of this room, and for the programs that ask them"
    )
    create.add_argument("--only", choices=("ask", "answer"), help="with --room: only for asking, or only for answering")
    create.add_argument("--days", type=_parse_days, help="expires after this many days")
    create.add_argument("--out", metavar="FILE", help="write the token to a new file that only you can read")
    listing = group.add("list", run_list, "list credentials, without their secrets", "list --json")
    listing.add_argument("--all", action="store_true", help="also revoked and expired ones")
    add_verbs(group.actions, CREDENTIAL_VERBS)
    group.add("login", run_login, "create a one-time code that logs a browser in", "login")


def _parse_days(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST_DAYS:
        return int(text)
    raise argparse.ArgumentTypeError(f"write a number of days from 1 to {_MOST_DAYS}")


def run_create(args: argparse.Namespace) -> int:
    kind = args.kind or ("room" if args.room else "agent")
    name = args.name or args.room
    if name is None:
        raise Refused.in_words("name_missing", "Give the credential a name that you will know it by: --name.")
    body: dict[str, Any] = {"kind": kind, "name": name, "agent_id": args.agent}
    body["room"] = args.room
    if args.only:
        body["rights"] = [args.only]
    if args.enrol:
        body["rights"] = ENROLLING
    if args.days is not None:
        body["expires_in_s"] = args.days * 86_400
    out = need_new_file(args.out)
    client = open_client(args)
    if args.thread:
        body["threads"] = [need_thread_id(client, thread) for thread in args.thread]
    made = client.post("credentials", body={k: v for k, v in body.items() if v is not None})
    if out:
        write_private(out, made["token"] + "\n")
        made["token"] = None
        made["file"] = str(out)
    if args.json:
        show_json(made)
    elif out:
        print(f"The token of {escape_line(made['id'])} is in {out}.")
    else:
        print_notice(f"This is the token of {escape_line(made['id'])}; it is shown this once:")
        print(made["token"])
    return 0


def run_list(args: argparse.Namespace) -> int:
    found = [one for one in open_client(args).get("credentials") if args.all or not _is_over(one)]
    if args.json:
        show_json(found)
    else:
        rows = [
            (c["id"], c["kind"], _describe_state(c), format_age(c["created_at"]), _format_name(c), _format_device(c))
            for c in found
        ]
        show_table(rows, ("id", "kind", "is", "age", "name", "login"))
    return 0


def _format_name(credential: dict[str, Any]) -> str:
    return str(credential["person"] or credential["name"])


def _format_device(credential: dict[str, Any]) -> str:
    """What a login is known by: its browser, where it was used from, and when."""
    if not credential["browser"]:
        return ""
    used_at = format_local_time(credential["last_used_at"] or credential["created_at"])
    return ", ".join(part for part in (credential["device"], credential["address"], f"used {used_at}") if part)


def _is_over(credential: dict[str, Any]) -> bool:
    ends_at = credential["expires_at"]
    return bool(credential["revoked_at"] or (ends_at and datetime.fromisoformat(ends_at) < datetime.now(UTC)))


def _describe_state(credential: dict[str, Any]) -> str:
    if credential["revoked_at"]:
        return "revoked"
    return f"until {format_local_time(credential['expires_at'])}" if credential["expires_at"] else "valid"


def run_login(args: argparse.Namespace) -> int:
    client = open_client(args)
    answer = client.post("login-codes")
    link = f"{client.url}/login?code={answer['code']}"
    if args.json:
        show_json({**answer, "url": link})
    else:
        print(f"Open once, within {answer['expires_in_s'] // 60} minutes: {link}")
    return 0


def need_new_file(name: str | None) -> Path | None:
    """The file to write a token to, if one was named: not there before the token is made, in a folder that is."""
    out = None if name is None else Path(name).expanduser()
    if out and out.exists():
        raise Refused.in_words("file_unusable", f"{out} exists already: choose another name for the token's file.")
    if out and not os.access(out.parent, os.W_OK | os.X_OK):
        raise Refused.in_words("file_unusable", f"{out} cannot be written: is {out.parent} a folder of yours?")
    return out


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
            file.write(text)
    except OSError as error:
        raise Refused.in_words("file_unusable", f"{path} cannot be written ({error.strerror}).") from error
