"""The verbs of `greenroom dag` that show and control runs."""

import argparse
import json
from typing import Any

from greenroom.cli.arg_parser import add_limit_option, parse_value
from greenroom.cli.ask_prompt import show_call
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.dag_display import count_ended_steps, describe_status, describe_waits, show_report, summarize_run
from greenroom.cli.ids import build_id_type
from greenroom.cli.run import show_item
from greenroom.cli.terminal import (
    colour_text,
    escape_line,
    format_age,
    format_duration,
    show_json,
    show_table,
    truncate_text,
)
from greenroom.cli.verb_group import Add
from greenroom.errors import Refused

Json = dict[str, Any]
_DESCRIPTION_CHARS = 60
_ITEMS_PER_PAGE = 2000
_RUNS_PER_PAGE = 200
_STATUSES = ("running", "waiting", "paused", "stopping", "completed", "failed", "cancelled")


def add_run_verbs(add: Add) -> None:
    listing = add("list", run_list, "list runs, newest first; --workflows lists workflows", "list --workflow release")
    listing.add_argument("--workflow", metavar="NAME", help="only runs of this workflow")
    listing.add_argument("--status", choices=_STATUSES)
    add_limit_option(listing)
    listing.add_argument("--workflows", action="store_true", help="list stored workflows instead of runs")
    for name, run, says in (
        ("status", run_status, "show the status of a run and its steps"),
        ("report", run_report, "show what each step did: agent, attempts, time, tokens, cost, output"),
        ("sessions", run_sessions, "list the agents of a run"),
    ):
        one = add(name, run, says, f"{name} wfr_01m7...")
        one.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
    amend = add(
        "amend",
        run_amend,
        "change a step that has not started or will be retried",
        "amend wfr_01m7... fix --set timeout_s=600",
    )
    amend.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
    amend.add_argument("step", metavar="STEP")
    amend.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="VALUE is JSON, otherwise text")
    logs = add("logs", run_logs, "show what the agents of a run said and did", "logs wfr_01m7... review")
    logs.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
    logs.add_argument("step", metavar="STEP", nargs="?", help="only this step")
    for name, says in (("attach", "attach to the terminal of a step's agent"), ("kill", "end the agent of a step")):
        one = add(name, run_attach if name == "attach" else run_kill, says, f"{name} wfr_01m7... review")
        one.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
        one.add_argument("step", metavar="STEP")
    unblock = add("unblock", run_unblock, "approve what a step waits for", "unblock wfr_01m7... release")
    unblock.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
    unblock.add_argument("step", metavar="STEP")
    unblock.add_argument("--text", default="", help="a text for the record")


def run_list(args: argparse.Namespace) -> int:
    client = open_client(args)
    if args.workflows:
        found = client.get("workflows")
        if args.json:
            show_json(found)
        else:
            about = [truncate_text(escape_line(one.get("description", "")), _DESCRIPTION_CHARS) for one in found]
            known = [(one["name"], one["version"], one.get("steps", 0)) for one in found]
            shown = [(*one, words) for one, words in zip(known, about, strict=True)]
            show_table(shown, ("WORKFLOW", "VERSION", "STEPS", "DESCRIPTION"), "No workflows found.")
        return 0
    found = _find_runs(client, args.workflow, args.status, args.limit)
    if args.json:
        show_json([summarize_run(run) for run in found])
        return 0
    rows = []
    for run in found:
        took = run["ended_at"] - run["created_at"] if run.get("ended_at") else None
        rows.append(
            (
                run["id"],
                run["workflow"],
                describe_status(run),
                f"{count_ended_steps(run)}/{run['steps']}",
                format_age(run["created_at"]),
                format_duration(took),
                run.get("trigger", "hand"),
            )
        )
    show_table(rows, ("RUN", "WORKFLOW", "STATUS", "STEPS", "AGE", "TIME", "TRIGGER"), "No workflow runs found.")
    return 0


def _find_runs(client: HubClient, workflow: str | None, status: str | None, limit: int) -> list[Json]:
    """The newest runs, made of as many pages as it takes."""
    found: list[Json] = []
    query = _build_status_query(status)
    while (left := limit - len(found)) > 0:
        before = found[-1]["seq"] if found else None
        page = client.get("workflow-runs", workflow=workflow, before=before, limit=min(left, _RUNS_PER_PAGE), **query)
        if not page:
            break
        found += page
    return found


def _build_status_query(status: str | None) -> Json:
    """The query for runs that are shown with this status."""
    if status in ("running", "waiting"):
        return {"status": "running", "waiting": "true" if status == "waiting" else "false"}
    return {"status": status}


def run_status(args: argparse.Namespace) -> int:
    report = open_client(args).get("workflow-runs", args.id, "report")
    run = report["run"]
    if args.json:
        show_json({**summarize_run(run), "steps": report["steps"]})
        return 0
    explanation = run.get("error") or run.get("note")
    print(
        f"{run['id']}  {escape_line(run['workflow'])}  {colour_text(describe_status(run))}"
        + (f": {escape_line(explanation)}" if explanation else "")
    )
    for need in describe_waits(run):
        print(f"  {need}")
    show_report(report)
    return 0


def run_report(args: argparse.Namespace) -> int:
    report = open_client(args).get("workflow-runs", args.id, "report")
    if args.json:
        show_json(report)
        return 0
    show_report(report)
    run, spent = report["run"], report["run"].get("spent", {})
    tokens = spent.get("input_tokens", 0) + spent.get("output_tokens", 0)
    took = format_duration(run["ended_at"] - run["created_at"]) if run.get("ended_at") else "so far"
    print(f"\n{describe_status(run)} · {took} · {tokens} tokens · {spent.get('cost_usd', 0.0):.4f} USD")
    if run.get("output") is not None:
        print(escape_line(json.dumps(run["output"], ensure_ascii=False)))
    return 0


def run_amend(args: argparse.Namespace) -> int:
    changes = {}
    for given in args.set:
        name, equals, text = given.partition("=")
        if not equals:
            raise Refused.in_words("bad_amendment", f"'{given}' is no change: write --set key=value.")
        changes[name] = parse_value(text)
    run = open_client(args).post("workflow-runs", args.id, "amend", body={"step": args.step, "changes": changes})
    show_json(summarize_run(run)) if args.json else print(f"{run['id']} is {run['status']}")
    return 0


def _find_steps(client: HubClient, run_id: str, step: str | None = None) -> list[Json]:
    steps: list[Json] = client.get("workflow-runs", run_id, "report")["steps"]
    if step is None:
        return steps
    found = [one for one in steps if one["id"] == step]
    if not found:
        raise Refused.in_words(
            "step_not_found", f"There is no step '{step}' in {run_id}: see `greenroom dag status {run_id}`."
        )
    return found


def run_sessions(args: argparse.Namespace) -> int:
    found = [
        {
            "step": step["id"],
            "status": step["status"],
            "agent": step["agent"],
            "attempt": one["number"],
            "agent_id": one["agent_id"],
            "run_id": one["agent_run"],
        }
        for step in _find_steps(open_client(args), args.id)
        for one in step["attempts"]
        if one["agent_run"] is not None
    ]
    if args.json:
        show_json(found)
    else:
        rows = [(one["step"], one["status"], one["agent"] or "", one["agent_id"] or "", one["run_id"]) for one in found]
        show_table(rows, ("STEP", "STATUS", "AGENT", "AGENT ID", "RUN"))
    return 0


def run_logs(args: argparse.Namespace) -> int:
    client = open_client(args)
    out: list[Json] = []
    for step in _find_steps(client, args.id, args.step):
        for one in step["attempts"]:
            if one["agent_run"] is None:
                continue
            items = _find_items(client, one["agent_run"])
            out += [{"step": step["id"], "attempt": one["number"], **item} for item in items]
            if not args.json:
                print(f"== {escape_line(step['id'])}, attempt {one['number']} ({one['agent_run']}): {one['status']}")
                for item in items:
                    show_item(item)
    if args.json:
        show_json(out)
    return 0


def _find_items(client: HubClient, agent_run: str) -> list[Json]:
    """All items of an agent's run, page by page."""
    items: list[Json] = []
    while page := client.get(
        "runs", agent_run, "items", after=items[-1]["number"] if items else 0, limit=_ITEMS_PER_PAGE
    ):
        items += page
    return items


def _need_agent_run(client: HubClient, run_id: str, step: str) -> str:
    found = _find_steps(client, run_id, step)[0]["attempts"]
    if not found or found[-1]["agent_run"] is None:
        raise Refused.in_words("no_agent", f"Step '{step}' has no agent at work.")
    return str(found[-1]["agent_run"])


def run_attach(args: argparse.Namespace) -> int:
    from greenroom.cli import attach

    args.id, args.read_only = _need_agent_run(open_client(args), args.id, args.step), False
    return attach.run_attach(args)


def run_kill(args: argparse.Namespace) -> int:
    client = open_client(args)
    run = client.post("runs", _need_agent_run(client, args.id, args.step), "cancel", body={"reason": "killed by hand"})
    show_json(run) if args.json else print(f"{run['id']} is {run['status']}")
    return 0


def run_unblock(args: argparse.Namespace) -> int:
    client = open_client(args)
    step = _find_steps(client, args.id, args.step)[0]
    if step.get("waits_kind") != "ask":
        raise Refused.in_words("not_waiting", f"Step '{args.step}' does not wait for a person.")
    ask = client.get("asks", step["waits_key"])
    show_call(ask)
    body = {"verdict": "approve", "text": args.text, "digest": ask["digest"]}
    ask = client.post("asks", ask["id"], "answer", body=body)
    show_json(ask) if args.json else print(f"{args.step} may go on")
    return 0
