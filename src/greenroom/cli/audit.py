"""`greenroom audit`: list and export privileged events, and verify that nobody changed them."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from greenroom import settings
from greenroom.cli.arg_parser import parse_count, parse_seq
from greenroom.cli.client import add_data_option, add_json_option, add_options, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import (
    count_things,
    escape_line,
    explain_error,
    print_notice,
    show_json,
    show_table,
    truncate_text,
)
from greenroom.errors import Refused

_ABOUT = 200
"""Columns that one event gets in a list; `--json` has all of it."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("audit", help="list, export and verify the audit log")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = inner.add_parser(
        "list",
        help="list privileged events, oldest first",
        epilog="example: greenroom audit list --type CallRefused,CallJudged --since 2026-11-15",
    )
    add_options(listing)
    _add_filter(listing, "id or name")
    listing.add_argument("--limit", type=parse_count, default=50, help="at most N (default: 50)")
    listing.set_defaults(run=run_list)
    export = inner.add_parser(
        "export",
        help="write privileged events into a file",
        description="Write privileged events of the data directory into a file, or to standard output with '-'."
        " JSON Lines without a filter hold the whole chain, which `greenroom audit verify --file` follows.",
        epilog="example: greenroom audit export audit.jsonl",
    )
    add_data_option(export)
    add_json_option(export)
    export.add_argument("file", metavar="FILE", help="the file; - for standard output")
    export.add_argument("--format", choices=("jsonl", "csv"), help="the format (default: by the file's ending)")
    _add_filter(export, "the id in the log")
    export.set_defaults(run=run_export)
    verify = inner.add_parser(
        "verify",
        help="verify the hash chain of privileged events",
        description=(
            "Verify the hash chain of privileged events, and print its end. Keep the end elsewhere and "
            "pass it with --anchor: then nobody can cut off even the newest events unnoticed."
        ),
        epilog="example: greenroom audit verify --anchor 512:9f86d0...",
    )
    add_data_option(verify)
    add_json_option(verify)
    verify.add_argument("--anchor", metavar="SEQ:HASH", help="an end of the chain that an earlier call printed")
    verify.add_argument("--file", metavar="FILE", help="verify an exported file of JSON Lines instead")
    verify.set_defaults(run=run_verify)


def _add_filter(parser: argparse.ArgumentParser, known_by: str) -> None:
    parser.add_argument("--after", type=parse_seq, default=0, metavar="SEQ", help="only messages after this seq")
    parser.add_argument("--type", metavar="NAMES", help="only these types, separated by commas")
    parser.add_argument(
        "--by",
        metavar="WHO",
        type=build_id_type("cred", "agt", suggests=False),
        help=f"only what this person, agent or node did, by {known_by}",
    )
    parser.add_argument("--since", metavar="TIME", help="only since this time, as 2026-11-15T10:00:00Z")
    parser.add_argument("--until", metavar="TIME", help="only before this time")


def run_list(args: argparse.Namespace) -> int:
    client = open_client(args)
    given = {"type": args.type, "by": args.by, "since": args.since, "until": args.until}
    events: list[dict[str, Any]] = []
    after: int | None = args.after
    while after is not None and len(events) < args.limit:
        page = client.get("audit", after_seq=after, limit=min(1000, args.limit - len(events)), **given)
        events += page["events"]
        after = page["next_after_seq"]
    if args.json:
        show_json({"events": events, "next_after_seq": after})
        return 0
    rows = [
        (e["seq"], e["at"], _format_actor(e), e["type"], truncate_text(json.dumps(e["data"]), _ABOUT)) for e in events
    ]
    show_table(rows, ("seq", "time", "by", "what", "about"), "No events found.")
    if after is not None:
        print_notice(f"There is more: greenroom audit list --after {after}")
    return 0


def _format_actor(event: dict[str, Any]) -> str:
    """Who did it; of an agent also where it works."""
    return f"{event['name']} on {event['node']}" if event["node"] else str(event["name"])


def run_export(args: argparse.Namespace) -> int:
    from greenroom.log.audit_file import AuditFilter, read_audit, write_csv, write_lines

    kinds = [kind.strip() for kind in args.type.split(",")] if args.type else None
    wanted = AuditFilter(
        after=args.after, kinds=kinds, by=args.by, since=_parse_time(args.since), until=_parse_time(args.until)
    )
    is_csv = args.format == "csv" or (args.format is None and args.file.endswith(".csv"))
    write = write_csv if is_csv else write_lines
    with _open_log(args) as connection, _open_output(args.file) as out:
        count = write(read_audit(connection, wanted), out)
    if args.file == "-":
        return 0
    show_json({"file": args.file, "events": count}) if args.json else print(
        f"{count_things(count, 'event')} written to {escape_line(args.file)}."
    )
    return 0


def _open_log(args: argparse.Namespace) -> contextlib.AbstractContextManager[Any]:
    """The log wherever the settings say that it is."""
    from greenroom.log.snapshot import read_log

    data = settings.resolve_data_dir(args.data)
    return read_log(data, settings.get_database(data))


@contextlib.contextmanager
def _open_output(name: str) -> Iterator[TextIO]:
    if name == "-":
        yield sys.stdout
        return
    try:
        with Path(name).open("w", newline="") as file:
            Path(name).chmod(0o600)
            yield file
    except OSError as error:
        raise Refused.in_words("cannot_write", f"{name} cannot be written ({error.strerror}).") from error


def _parse_time(text: str | None) -> int | None:
    from greenroom.clock import parse_iso

    try:
        return None if text is None else parse_iso(text)
    except ValueError:
        raise Refused.in_words("bad_time", f"'{text}' is no time: write 2026-11-15T10:20:30Z.") from None


def run_verify(args: argparse.Namespace) -> int:
    anchor = _parse_anchor(args.anchor)
    seq, digest, fault, kept = _verify_file(args.file, anchor) if args.file else _verify_log(args, anchor)
    if fault is None and anchor is not None and kept != anchor[1]:
        fault = f"The chain does not hold the anchor {args.anchor}: it was cut or made anew since."
    if args.json:
        show_json({"ok": fault is None, "seq": seq, "hash": digest, "fault": fault})
    elif fault is None:
        print(f"The chain holds. Its end is {seq}:{digest}")
    else:
        remedy = "" if args.file else " Go back to the newest good backup."
        print_notice(f"greenroom: {escape_line(fault)}{remedy}")
    return 0 if fault is None else 1


_Verified = tuple[int, str, str | None, str | None]
"""The end of the chain, what breaks it, and the hash where the anchor is."""


def _verify_log(args: argparse.Namespace, anchor: tuple[int, str] | None) -> _Verified:
    from greenroom.log.chain import verify_chain
    from greenroom.rules.registry import NOUNS

    privileged = {kind.__name__ for noun in NOUNS for kind in noun.events if kind.privileged}
    with _open_log(args) as connection:
        chain, fault = verify_chain(connection, privileged)
        kept = None
        if anchor is not None:
            kept = connection.execute("SELECT hash FROM chain WHERE seq = ?", (anchor[0],)).get
    return chain.seq, chain.hash.hex(), fault, kept.hex() if kept is not None else None


def _verify_file(name: str, anchor: tuple[int, str] | None) -> _Verified:
    from greenroom.log.audit_file import verify_lines

    kept: list[str] = []

    def watched(file: TextIO) -> Iterator[str]:
        for text in file:
            if anchor is not None and text.startswith(f'{{"seq":{anchor[0]},'):
                kept.append(str(json.loads(text)["hash"]))
            yield text

    try:
        with Path(name).open() as file:
            seq, digest, fault = verify_lines(watched(file))
    except (OSError, ValueError) as error:
        raise Refused.in_words("cannot_read", f"{name} cannot be read: {explain_error(error)}") from error
    return seq, digest, fault, kept[0] if kept else None


def _parse_anchor(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or len(digest) != 64:
        raise Refused.in_words("bad_anchor", "An anchor is SEQ:HASH, as `greenroom audit verify` prints it.")
    return int(seq), digest.lower()
