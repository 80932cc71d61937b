"""`greenroom runs`: show what agents do, send them messages, and cancel them."""

import argparse
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from greenroom.cli.arg_parser import add_limit_option
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.run import ENDED, wait_for_run
from greenroom.cli.terminal import (
    colour_text,
    escape_line,
    escape_lines,
    format_age,
    format_id,
    measure_room,
    measure_width,
    pad_text,
    print_notice,
    read_stdin,
    show_json,
    show_table,
    truncate_text,
)
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.rules.runs.verbs import RUN_VERBS

_PROMPT = 50
_PAGE = 200
_STATUSES = ("pending", "running", "waiting", *ENDED)
_ITEMS = 2000
_SHOWN = (
    *("id", "status", "profile", "agent_id", "model", "node_id", "directory", "repository", "branch"),
    *("continues", "continued_in", "waiting_for", "waits_kind", "waits_key", "held_up_by", "error"),
)


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "runs", "list, show, follow and cancel runs")
    listing = group.add("list", run_list, "list runs, newest first", "list --status waiting --limit 5")
    listing.add_argument("--status", choices=_STATUSES, help="only runs with this status")
    add_limit_option(listing)
    for name, run, says in (
        ("show", run_show, "show a run with its output"),
        ("tree", run_tree, "show the tree of a run"),
        ("diff", run_diff, "show what a run changed in its worktree"),
        ("follow", run_follow, "show a run live until it ends"),
    ):
        one = group.add(name, run, says, f"{name} run_01m7...")
        one.add_argument("id", metavar="ID", type=build_id_type("run"))
    more = group.add(
        "continue",
        run_continue,
        "give the agent of a finished run another task, in the same conversation",
        "continue run_01m7... 'now add a test'",
    )
    more.add_argument("id", metavar="ID", type=build_id_type("run"))
    more.add_argument("prompt", metavar="PROMPT", help="the task; - reads it from standard input")
    how = more.add_mutually_exclusive_group()
    how.add_argument("--follow", action="store_true", help="show what the agent says and does as it happens")
    how.add_argument("--detach", action="store_true", help="print the new run's id and return at once")
    add_verbs(group.actions, RUN_VERBS)


def run_list(args: argparse.Namespace) -> int:
    found = _find_runs(open_client(args), args.status, args.limit)
    if args.json:
        show_json(found)
    else:
        rows = [
            (
                r["id"],
                f"{r['status']}, node away" if r.get("held_up_by") else r["status"],
                format_age(r["created_at"]),
                _indent_text(depth, r["profile"]),
                r.get("agent_name", ""),
                _shorten_prompt(r["prompt"]),
            )
            for r, depth in _walk_trees(found)
        ]
        show_table(rows, ["RUN", "STATUS", "AGE", "PROFILE", "AGENT", "PROMPT"], "No runs found.")
    return 0


def _find_runs(client: HubClient, status: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest runs, made of as many pages as it takes."""
    found: list[dict[str, Any]] = []
    while (left := limit - len(found)) > 0:
        before = found[-1]["seq"] if found else None
        page = client.get("runs", status=status, before=before, limit=min(left, _PAGE))
        if not page:
            break
        found += page
    return found


def _walk_trees(runs: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int]]:
    """Each run with its depth, below the run that started it: roots in the order given, children oldest first."""
    known = {run["id"] for run in runs}
    below: dict[str | None, list[dict[str, Any]]] = {}
    for run in runs:
        parent = run.get("parent_id")
        below.setdefault(parent if parent in known else None, []).append(run)

    def walk(some: Iterable[dict[str, Any]], depth: int) -> Iterator[tuple[dict[str, Any], int]]:
        for run in some:
            yield run, depth
            yield from walk(reversed(below.get(run["id"], [])), depth + 1)

    return walk(below.get(None, []), 0)


def _indent_text(depth: int, text: str) -> str:
    return f"{'  ' * (depth - 1)}└ {text}" if depth else text


def _shorten_prompt(prompt: str) -> str:
    """The first line of a prompt, as far as there is room for it."""
    return truncate_text(escape_line(prompt.strip().partition("\n")[0]), _PROMPT)


def run_show(args: argparse.Namespace) -> int:
    client = open_client(args)
    run = client.get("runs", args.id)
    if args.json:
        show_json({**run, "calls": client.get("runs", args.id, "calls")})
        return 0
    for name in _SHOWN:
        if run.get(name):
            value = escape_line(str(run[name]))
            print(f"{name:12} {colour_text(value) if name == 'status' else value}")
    more = ", and a model call that was cut off" if run.get("is_usage_partial") else ""
    print(f"{'usage':12} {run.get('input_tokens', 0)} in, {run.get('output_tokens', 0)} out{more}")
    if run.get("output"):
        print(escape_lines(run["output"]))
    return 0


def run_tree(args: argparse.Namespace) -> int:
    found = open_client(args).get("runs", args.id, "tree")
    if args.json:
        show_json(found)
        return 0
    for run, depth in _walk_trees(found["runs"][::-1]):
        begin, status = f"{'  ' * depth}{format_id(run['id'])}  ", pad_text(run["status"], 11)
        rest = truncate_text(
            f" {escape_line(run['profile'])}  {_shorten_prompt(run['prompt'])}",
            measure_room() - measure_width(begin + status),
        )
        print(begin + colour_text(status) + rest)
    return 0


def run_diff(args: argparse.Namespace) -> int:
    client, after, found = open_client(args), 0, None
    client.get("runs", args.id)
    while items := client.get("runs", args.id, "items", after=after, limit=_ITEMS):
        after = items[-1]["number"]
        found = next((item["data"] for item in reversed(items) if item["kind"] == "changed"), found)
    if args.json:
        show_json(found)
    elif found is None:
        print_notice("Nothing is known to have changed. Only runs of profiles with worktree = true are compared.")
    else:
        print(escape_lines(found["diff"]))
        if found.get("is_cut"):
            print_notice("The rest is left out: see the agent's worktree.")
    return 0


def run_follow(args: argparse.Namespace) -> int:
    return wait_for_run(open_client(args), args.id, not args.json, args.json)


def run_continue(args: argparse.Namespace) -> int:
    client = open_client(args)
    prompt = read_stdin() if args.prompt == "-" else args.prompt
    try:
        run = client.post("runs", args.id, "continue", body={"prompt": prompt})
    except Refused as no:
        if no.code == "cannot_continue":
            print_notice(f"greenroom: try: {_build_run_command(client.get('runs', args.id))}")
        raise
    if args.detach:
        show_json(run) if args.json else print(run["id"])
        return 0
    return wait_for_run(client, run["id"], args.follow and not args.json, args.json)


def _build_run_command(run: dict[str, Any]) -> str:
    """The command that starts a run like this one."""
    place = run.get("repository") or run.get("overrides", {}).get("directory")
    words = ["greenroom", "run", run["profile"], "PROMPT", *(["--directory", place] if place else [])]
    return shlex.join([*words, *(["--worktree"] if run.get("repository") else [])])
