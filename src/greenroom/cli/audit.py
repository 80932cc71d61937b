"""`greenroom audit`: everything privileged that was done, and proof that nobody has changed it since."""

import argparse
import contextlib
import json
from typing import Any

from greenroom import settings
from greenroom.cli.client import add_data_option, add_json_option, add_options, open_client
from greenroom.cli.terminal import line, say, show_json, show_table
from greenroom.log.directory import need_database
from greenroom.log.errors import Refused


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("audit", help="what was done with privilege, and proof that it is unchanged")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = inner.add_parser("list", help="privileged events, oldest first", epilog="example: greenroom audit list")
    add_options(listing)
    listing.add_argument("--after", type=int, default=0, metavar="SEQ", help="only those after this seq")
    listing.add_argument("--limit", type=int, default=50, help="at most so many (default: 50)")
    listing.set_defaults(run=run_list)
    verify = inner.add_parser(
        "verify",
        help="verify the hash chain of privileged events",
        description="Verify the hash chain of privileged events, and print its end. Keep that in another place and give"
        " it back with --anchor: then not even the newest events can have been cut off unnoticed.",
        epilog="example: greenroom audit verify --anchor 512:9f86d0...",
    )
    add_data_option(verify)
    add_json_option(verify)
    verify.add_argument("--anchor", metavar="SEQ:HASH", help="an end of the chain that was printed before")
    verify.set_defaults(run=run_verify)


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("audit", after_seq=args.after, limit=args.limit)
    if args.json:
        show_json(found)
        return 0
    rows = [(e["seq"], e["at"], e["by"], e["type"], json.dumps(e["data"])) for e in found["events"]]
    show_table(rows, ("seq", "time", "by", "what", "about"))
    if found["next_after_seq"] is not None:
        say(f"There is more: greenroom audit list --after {found['next_after_seq']}")
    return 0


def run_verify(args: argparse.Namespace) -> int:
    from greenroom.log.chain import verify
    from greenroom.log.sqlite_file import connect, usable
    from greenroom.nouns.all import NOUNS

    anchor = _anchor(args.anchor)
    privileged = {kind.__name__ for noun in NOUNS for kind in noun.events if kind.privileged}
    path = need_database(settings.data_dir(args.data))
    with usable(path), contextlib.closing(connect(path)) as connection:
        chain, fault = verify(connection, privileged)
        if fault is None and anchor is not None:
            kept = connection.execute("SELECT hash FROM chain WHERE seq = ?", (anchor[0],)).get
            if kept is None or kept.hex() != anchor[1]:
                fault = f"The chain does not hold the anchor {args.anchor}: it was cut or made anew since."
    if args.json:
        show_json({"ok": fault is None, "seq": chain.seq, "hash": chain.hash.hex(), "fault": fault})
    elif fault is None:
        print(f"The chain holds. Its end is {chain.seq}:{chain.hash.hex()}")
    else:
        say(f"greenroom: {line(fault)} Restore the newest good backup with `greenroom restore`.")
    return 0 if fault is None else 1


def _anchor(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or len(digest) != 64:
        raise Refused("bad_anchor", "An anchor is SEQ:HASH, as `greenroom audit verify` prints it.")
    return int(seq), digest.lower()
