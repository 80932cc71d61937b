"""`greenroom check`, `backup` and `restore`: the operator's tools on a data directory."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import add_data_option, add_json_option
from greenroom.cli.terminal import escape_line, print_notice, show_json
from greenroom.log.data_directory import MCP_TOKEN, OPERATOR_TOKEN


def add_to(verbs: Any) -> None:
    check = verbs.add_parser(
        "check",
        help="verify a data directory, also while the hub runs",
        description="Verify the log, its hash chain, its rows and its files. Nothing is changed. Exits 1 if something"
        " is wrong.",
        epilog="example: greenroom check --data ~/.greenroom",
    )
    _add_options(check)
    check.add_argument("--rebuild", action="store_true", help="rebuild the rows from the log at the next start")
    check.set_defaults(run=run_check)
    backup = verbs.add_parser(
        "backup",
        help="write a backup to one file, also while the hub runs",
        description="Write everything acknowledged so far to one new file that only you can read. Copying the database"
        " file yourself while the hub runs does not make a backup.",
        epilog="example: greenroom backup ~/greenroom-monday.tar",
    )
    _add_options(backup)
    backup.add_argument("file", metavar="FILE")
    backup.set_defaults(run=run_backup)
    restore = verbs.add_parser(
        "restore",
        help="restore a backup into an empty data directory",
        description=(
            "Restore a backup into an empty data directory. Credentials and logins are revoked unless you "
            "keep them, and a new operator's token is written."
        ),
        epilog="example: greenroom restore ~/greenroom-monday.tar --data ~/.greenroom",
    )
    _add_options(restore)
    restore.add_argument("file", metavar="FILE", nargs="?")
    restore.add_argument(
        "--force", action="store_true", help="first move the existing data into a folder replaced-<time>"
    )
    restore.add_argument(
        "--keep", metavar="NAME", action="append", default=[], help="a credential that stays valid, by name or id"
    )
    restore.add_argument(
        "--here",
        action="store_true",
        help="instead of FILE: other tools (pg_restore, a snapshot of the disk) have put the data back already",
    )
    restore.set_defaults(run=run_restore)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_data_option(parser)
    add_json_option(parser)


def run_check(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from greenroom.log.rebuild import forget_rows

    data = settings.resolve_data_dir(args.data)
    if args.rebuild:
        _need_local_log(data, "--rebuild")
        forget_rows(data)
        print_notice("The rows will be made anew at the next start of the hub.")
    checked = _check_log(data, _show_progress if sys.stderr.isatty() else None)
    if args.json:
        show_json({"ok": checked.ok, **asdict(checked)})
        return 0 if checked.ok else 1
    for finding in checked.findings:
        print(f"{finding.level}: {finding.code}: {escape_line(finding.message)}")
    if checked.ok:
        end = f"{checked.chain_seq}:{checked.chain}"
        print(f"All is well: {checked.seq} events, {checked.files} payload files; the chain ends at {end}.")
    return 0 if checked.ok else 1


def _check_log(data: Path, progress: Any) -> Any:
    """Verify the log wherever the settings say that it is."""
    from greenroom.log.check_sqlite import check_sqlite
    from greenroom.rules.registry import NOUNS

    database = settings.get_database(data)
    if database is None:
        return check_sqlite(data, NOUNS, progress)
    from greenroom.log.check_postgres import check_postgres

    return check_postgres(data, database, NOUNS, progress)


def _need_local_log(data: Path, what: str) -> None:
    """Refuse what can only be done to a database in the data directory."""
    from greenroom.errors import Refused

    if settings.get_database(data) is not None:
        raise Refused.in_words(
            "log_in_postgres",
            f"The log of {data} is in PostgreSQL, where {what} does not reach: use the tools of that database"
            " (pg_dump, pg_restore).",
        )


def _show_progress(what: str, done: int, of: int) -> None:
    print(f"\r\x1b[K{what}: {done} of {of}\r", end="", file=sys.stderr, flush=True)


def run_backup(args: argparse.Namespace) -> int:
    import msgspec

    from greenroom.log.backup import backup
    from greenroom.rules.registry import NOUNS

    target = Path(args.file).expanduser().absolute()
    data = settings.resolve_data_dir(args.data)
    _need_local_log(data, "backup")
    made = backup(data, target, NOUNS)
    if args.json:
        show_json({"file": str(target), **msgspec.to_builtins(made), "files": len(made.files)})
    else:
        print(f"Everything up to event {made.seq} is in {target}, with {len(made.files)} payload files.")
    for name in made.left_out:
        print_notice(
            f"greenroom: the payload file {name} is missing or damaged and was left out: see `greenroom check`."
        )
    return 1 if made.left_out else 0


def run_restore(args: argparse.Namespace) -> int:
    import msgspec

    from greenroom.cli.epoch import begin_epoch
    from greenroom.errors import Refused
    from greenroom.log.restore import restore
    from greenroom.settings import Settings

    data = settings.resolve_data_dir(args.data)
    if args.here == bool(args.file):
        raise Refused.in_words(
            "bad_restore", "Name the file of a backup, or say --here if the data is back in its place."
        )
    begun: list[dict[str, Any]] = []
    restored: dict[str, Any] = {}
    if args.here:
        begun.append(begin_epoch(data, settings.load_settings(data), args.keep))
        (data / MCP_TOKEN).unlink(missing_ok=True)
    else:
        _need_local_log(data, "restore")
        file = Path(args.file).expanduser().absolute()
        made = restore(
            file,
            data,
            force=args.force,
            prepare=lambda staged: begun.append(begin_epoch(staged, Settings(), args.keep)),
        )
        restored = {**msgspec.to_builtins(made), "files": len(made.files)}
    checked = _check_log(data, None)
    if args.json:
        token = str(data / OPERATOR_TOKEN)
        show_json({"data": str(data), "ok": checked.ok, **restored, "operator_token": token, "epoch": begun[0]})
    else:
        _show_restored(data, restored, begun[0])
    for finding in checked.findings:
        print_notice(f"{finding.level}: {finding.code}: {escape_line(finding.message)}")
    return 0 if checked.ok else 1


def _show_restored(data: Path, restored: dict[str, Any], epoch: dict[str, Any]) -> None:
    if restored:
        print(f"{data} is as it was at event {restored['seq']} ({restored['made_at']}).")
    print(f"This begins epoch {epoch['number']} of the hub, because the backup does not know what you ended after it.")
    print(f"  credentials revoked: {len(epoch['revoked'])}{_format_names(epoch['revoked'])}")
    print(f"  credentials kept: {len(epoch['kept'])}{_format_names(epoch['kept'])}")
    for what, words in _ENDED_BY_EPOCH.items():
        if epoch[what]:
            print(f"  {words}: {epoch[what]}")
    print("  Signed webhook calls are refused for the next five minutes.")
    print("Rules that you wrote, workflows and MCP servers are as they were: look at `greenroom policy list`.")
    print(f"A new operator's token is in {data / OPERATOR_TOKEN}; commands on this machine use it by themselves.")
    print("Start the hub with `greenroom serve`, and log in to the page with the link that it prints.")


_ENDED_BY_EPOCH = {
    "asks": "open permissions withdrawn; the agents have to ask again",
    "approvals": "unused approvals void",
    "grants": "approvals for a whole run or profile ended",
    "rules": "rules removed that an approval was remembered as",
    "triggers": "triggers disarmed; look at `greenroom dag triggers`, and arm those that you want",
    "runs": "runs interrupted; resume them with `greenroom runs resume`",
    "channels": "notification channels removed",
}


def _format_names(credentials: list[dict[str, Any]]) -> str:
    names = Counter(_format_name(one) for one in credentials)
    return "".join(f"\n    {escape_line(name)}{f', {n} times' if n > 1 else ''}" for name, n in sorted(names.items()))


def _format_name(credential: dict[str, Any]) -> str:
    if credential["browser"]:
        return f"{credential['device'] or credential['name']} (login of a browser)"
    return f"{credential['name']} ({credential['kind']})"
