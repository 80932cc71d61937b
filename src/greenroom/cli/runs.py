"""`greenroom runs`: look at what agents do, say something to them, and end them."""

import argparse
from typing import Any

from greenroom.cli.client import add_options, open_client
from greenroom.cli.parsing import count
from greenroom.cli.run import end_of
from greenroom.cli.terminal import columns, cut, line, lines, say, show_json, show_table

_PROMPT = 50
_ITEMS = 2000


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("runs", help="list, show, follow and cancel runs")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, help_text, run, example in (
        ("list", "runs, newest first", run_list, "greenroom runs list --json"),
        ("show", "one run with its output", run_show, "greenroom runs show run_01m7..."),
        ("tree", "the tree that a run belongs to", run_tree, "greenroom runs tree run_01m7..."),
        ("diff", "what a run has changed in its worktree", run_diff, "greenroom runs diff run_01m7..."),
        ("follow", "wait for a run's end and show it meanwhile", run_follow, "greenroom runs follow run_01m7..."),
        ("cancel", "end a run and all below it", run_cancel, "greenroom runs cancel run_01m7..."),
        ("steer", "say something to an agent at work", run_steer, "greenroom runs steer run_01m7... 'use tabs'"),
        ("resume", "go on with an interrupted run", run_resume, "greenroom runs resume run_01m7..."),
        ("extend", "let a paused run go on", run_extend, "greenroom runs extend run_01m7... --timeout 600"),
    ):
        one = inner.add_parser(name, help=help_text, epilog=f"example: {example}")
        add_options(one)
        if name != "list":
            one.add_argument("id", metavar="ID")
        if name == "cancel":
            how = one.add_mutually_exclusive_group()
            how.add_argument("--cascade", action="store_true", help="end all that it has started, too (the default)")
            how.add_argument("--only", action="store_true", help="leave what it has started alone")
        if name == "steer":
            one.add_argument("text", metavar="TEXT")
        if name == "extend":
            one.add_argument("--timeout", type=count, metavar="SECONDS")
            one.add_argument("--tokens", type=count, metavar="N")
            one.add_argument("--cost", type=float, metavar="USD")
        one.set_defaults(run=run)


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("runs")
    if args.json:
        show_json(found)
    else:
        rows = [[r["id"], r["status"], r["profile"], r["depth"], _begin(r["prompt"])] for r in found]
        show_table(rows, ["RUN", "STATUS", "PROFILE", "DEPTH", "PROMPT"])
    return 0


def _begin(prompt: str) -> str:
    """The first line of a prompt, as far as there is room for it."""
    return cut(line(prompt.strip().partition("\n")[0]), _PROMPT)


def run_show(args: argparse.Namespace) -> int:
    client = open_client(args)
    run = client.get("runs", args.id)
    if args.json:
        show_json({**run, "calls": client.get("runs", args.id, "calls")})
        return 0
    for name in ("id", "status", "profile", "agent_id", "node_id", "waiting_for", "error"):
        if run.get(name):
            print(f"{name:12} {line(str(run[name]))}")
    print(f"{'usage':12} {run.get('input_tokens', 0)} in, {run.get('output_tokens', 0)} out")
    if run.get("output"):
        print(lines(run["output"]))
    return 0


def run_tree(args: argparse.Namespace) -> int:
    found = open_client(args).get("runs", args.id, "tree")
    if args.json:
        show_json(found)
        return 0
    below: dict[str | None, list[dict[str, Any]]] = {}
    for run in found["runs"]:
        below.setdefault(run.get("parent_id"), []).append(run)

    def show(run: dict[str, Any], depth: int) -> None:
        row = f"{'  ' * depth}{run['id']}  {run['status']:11} {line(run['profile'])}  {_begin(run['prompt'])}"
        print(cut(row, columns()))
        for child in below.get(run["id"], []):
            show(child, depth + 1)

    for root in below.get(None, []):
        show(root, 0)
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
        say("Nothing is known to have changed. Only runs of profiles with worktree = true are compared.")
    else:
        print(lines(found["diff"]))
        if found.get("is_cut"):
            say("The rest is left out: see the agent's worktree.")
    return 0


def run_follow(args: argparse.Namespace) -> int:
    return end_of(open_client(args), args.id, not args.json, args.json)


def run_cancel(args: argparse.Namespace) -> int:
    run = open_client(args).post("runs", args.id, "cancel", body={"cascade": not args.only})
    show_json(run) if args.json else print(f"{run['id']} is {run['status']}")
    return 0


def run_steer(args: argparse.Namespace) -> int:
    run = open_client(args).post("runs", args.id, "steer", body={"text": args.text})
    show_json(run) if args.json else print("said")
    return 0


def run_resume(args: argparse.Namespace) -> int:
    run = open_client(args).post("runs", args.id, "resume")
    show_json(run) if args.json else print(run["id"])
    return 0


def run_extend(args: argparse.Namespace) -> int:
    body = {"timeout_s": args.timeout, "max_tokens": args.tokens, "max_cost_usd": args.cost}
    run = open_client(args).post("runs", args.id, "extend", body={k: v for k, v in body.items() if v is not None})
    show_json(run) if args.json else print(f"{run['id']} is {run['status']}")
    return 0
