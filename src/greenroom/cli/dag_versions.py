"""`greenroom dag versions` and `dag restore`: list earlier versions of a workflow and restore one."""

import argparse
import difflib
from typing import Any

from greenroom.cli.arg_parser import parse_count
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.terminal import escape_line, escape_lines, format_local_time, print_notice, show_json, show_table
from greenroom.cli.verb_group import Add
from greenroom.clock import format_iso
from greenroom.errors import Refused

Json = dict[str, Any]
_PAGE = 200


def add_version_verbs(add: Add) -> None:
    versions = add(
        "versions", run_versions, "list the versions of a workflow, also of a deleted one", "versions release --diff 3"
    )
    versions.add_argument("name", metavar="WORKFLOW")
    which = versions.add_mutually_exclusive_group()
    which.add_argument("--show", type=parse_count, metavar="VERSION", help="print this version as YAML")
    which.add_argument(
        "--diff", type=parse_count, metavar="VERSION", help="print what changed from this version to the newest"
    )
    restore = add(
        "restore", run_restore, "save an earlier version of a workflow as the newest one", "restore release 3"
    )
    restore.add_argument("name", metavar="WORKFLOW")
    restore.add_argument(
        "version",
        metavar="VERSION",
        type=parse_count,
        nargs="?",
        help="(default: the version before the newest, or the last one of a deleted workflow)",
    )


def run_versions(args: argparse.Namespace) -> int:
    client = open_client(args)
    if args.show is not None:
        found = _need_version(client, args.name, args.show)
        show_json(found) if args.json else print(escape_lines(_build_yaml(found)), end="")
        return 0
    if args.diff is not None:
        return _show_diff(client, args)
    found = client.get("workflows", args.name, "versions", limit=_PAGE)
    if args.json:
        show_json(found)
        return 0
    rows = [
        (
            one["version"],
            format_local_time(format_iso(one["made_at"])),
            one["made_by_name"],
            len(one["definition"].get("steps", ())),
            f"restores {one['restored_from']}" if one["restored_from"] else one["source"],
        )
        for one in found
    ]
    show_table(rows, ("VERSION", "SAVED", "BY", "STEPS", "FROM"))
    return 0


def _show_diff(client: HubClient, args: argparse.Namespace) -> int:
    before = _need_version(client, args.name, args.diff)
    (after,) = client.get("workflows", args.name, "versions", limit=1)
    changes = list(
        difflib.unified_diff(
            _build_yaml(before).splitlines(),
            _build_yaml(after).splitlines(),
            f"version {before['version']}",
            f"version {after['version']}",
            lineterm="",
        )
    )
    if args.json:
        show_json({"from": before["version"], "to": after["version"], "diff": "\n".join(changes)})
    elif changes:
        print("\n".join(escape_line(one) for one in changes))
    else:
        print_notice(f"Version {before['version']} says the same as version {after['version']}.")
    return 0


def _need_version(client: HubClient, name: str, version: int) -> Json:
    found: list[Json] = client.get("workflows", name, "versions", before=version + 1, limit=1)
    if not found or found[0]["version"] != version:
        raise Refused.in_words(
            "version_not_found", f"Workflow '{name}' has no version {version}: see `greenroom dag versions {name}`."
        )
    return found[0]


def _build_yaml(version: Json) -> str:
    """The YAML of a version; one that came as values is written out."""
    if version["text"]:
        text: str = version["text"]
        return text if text.endswith("\n") else f"{text}\n"
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML(pure=True)
    yaml.default_flow_style = False
    out = StringIO()
    yaml.dump(version["definition"], out)
    return out.getvalue()


def run_restore(args: argparse.Namespace) -> int:
    saved = open_client(args).post("workflows", args.name, "restore", body={"version": args.version})
    show_json(saved) if args.json else print(f"{escape_line(saved['name'])} is at version {saved['version']}")
    return 0
