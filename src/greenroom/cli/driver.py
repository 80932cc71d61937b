"""`greenroom driver`: lists the runtimes on this machine, and checks one against the driver contract."""

import argparse
import asyncio
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom import settings
from greenroom.cli.arg_parser import parse_seconds
from greenroom.cli.client import add_data_option, add_json_option
from greenroom.cli.terminal import escape_line, print_notice, show_json, show_table
from greenroom.errors import Refused

if TYPE_CHECKING:
    from greenroom.link.profile_definition import ProfileDefinition

_SILENT = ("command", "pty")
"""They have no conversation in which anything could be checked."""
_PATIENCE_S = 60.0
_MARKS = {"ok": "✓", "lacking": "-", "failed": "✗"}


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("driver", help="list drivers, and check one against its runtime")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = inner.add_parser(
        "list",
        help="list drivers, and whether their runtime is installed",
        epilog="example: greenroom driver list --json",
    )
    add_data_option(listing)
    add_json_option(listing)
    listing.set_defaults(run=run_list)
    check = inner.add_parser(
        "check",
        help="check a driver and its runtime",
        description=(
            "Start the runtime with a scripted model and a temporary hub, and check that it answers, "
            "asks, stops, remembers and leaves nothing behind. Needs no account."
        ),
        epilog="example: greenroom driver check rehearsal · greenroom driver check acp --profile agents/mine.toml",
    )
    check.add_argument("name", metavar="NAME", help="see `greenroom driver list`")
    check.add_argument(
        "--profile",
        metavar="FILE",
        help="a profile's file, or its name in the data directory, for its command, options and env; {model_url} in env"
        " is the scripted model's address",
    )
    check.add_argument(
        "--patience",
        type=parse_seconds,
        default=_PATIENCE_S,
        metavar="SECONDS",
        help="seconds for each point (default: 60)",
    )
    add_data_option(check)
    add_json_option(check)
    check.set_defaults(run=run_check)


def run_list(args: argparse.Namespace) -> int:
    found = asyncio.run(_find_drivers())
    if args.json:
        show_json(found)
    else:
        rows = [(one["name"], one["version"] or "not found", one["path"] or "") for one in found]
        show_table(rows, ("name", "version", "at"))
    return 0


async def _find_drivers() -> list[dict[str, Any]]:
    from greenroom.runtimes.driver_list import load_drivers

    env, drivers = dict(os.environ), load_drivers()
    found = await asyncio.gather(*(driver.find(env) for driver in drivers.values()))
    return [
        {"name": name, "version": one.version if one else None, "path": one.path if one else None}
        for name, one in zip(drivers, found, strict=True)
    ]


def run_check(args: argparse.Namespace) -> int:
    """Exit code 1 when a point has failed."""
    from greenroom.runtimes.driver_list import DRIVER_INFOS

    if args.name not in DRIVER_INFOS:
        raise Refused.in_words(
            "no_driver", f"There is no driver '{args.name}': write one of {', '.join(DRIVER_INFOS)}."
        )
    if args.name in _SILENT:
        raise Refused.in_words(
            "no_contract", f"The driver '{args.name}' runs any program, and has no conversation to check."
        )
    definition = _load_definition(args.name, _get_profile_file(settings.resolve_data_dir(args.data), args.profile))
    with tempfile.TemporaryDirectory(prefix="greenroom-check-") as folder:
        findings = asyncio.run(_run_check(args, definition, Path(folder)))
    if args.json:
        show_json([{"point": one.point, "verdict": one.verdict, "detail": one.detail} for one in findings])
    counts = {verdict: sum(one.verdict == verdict for one in findings) for verdict in _MARKS}
    print_notice(f"{counts['ok']} ok, {counts['lacking']} lacking, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


def _get_profile_file(data: Path, given: str | None) -> Path | None:
    if given is None or Path(given).exists():
        return None if given is None else Path(given)
    own = data / "agents" / f"{given}.toml"
    return own if "/" not in given and own.exists() else Path(given)


def _load_definition(driver: str, file: Path | None) -> "ProfileDefinition":
    import msgspec

    from greenroom.link.profile_definition import ProfileDefinition
    from greenroom.rules.agents.profiles import explain_definition_error, read_definition

    if file is None:
        return ProfileDefinition(driver=driver)
    try:
        found = read_definition(tomllib.loads(file.read_text()))
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise Refused.in_words("bad_profile", f"{file}: {explain_definition_error(error)}") from error
    if found.driver != driver:
        raise Refused.in_words(
            "bad_profile", f"{file}: driver: it is '{found.driver}', and '{driver}' is to be checked."
        )
    return found


async def _run_check(args: argparse.Namespace, definition: "ProfileDefinition", folder: Path) -> list[Any]:
    from greenroom.cli.driver_testbed import open_testbed
    from greenroom.node.processes import ProcessSpawner
    from greenroom.runtimes.conformance_check import PointResult, check_driver
    from greenroom.runtimes.driver_list import load_driver
    from greenroom.runtimes.scripted_model import choose_script

    def tell(finding: PointResult) -> None:
        detail = f" ({finding.detail})" if finding.detail else ""
        words = f"{_MARKS[finding.verdict]} {finding.point}{detail}"
        print(escape_line(words), file=sys.stderr if args.json else sys.stdout, flush=True)

    async with open_testbed(args.name, definition, folder) as make_opening:
        script = choose_script(args.name)
        return await check_driver(load_driver(args.name), make_opening, ProcessSpawner(), script, args.patience, tell)
