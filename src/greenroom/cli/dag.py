"""`greenroom dag`: the verbs for workflows, from the file to the report."""

import argparse
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import HubClient, HubUnreachable, open_client, retry_while_away
from greenroom.cli.dag_display import find_blockers, follow_run, format_output, show_report, summarize_run
from greenroom.cli.dag_files import add_file_verbs, find_drivers
from greenroom.cli.dag_runs import add_run_verbs
from greenroom.cli.dag_triggers import add_trigger_verbs
from greenroom.cli.dag_versions import add_version_verbs
from greenroom.cli.ids import build_id_type
from greenroom.cli.run import open_client_or_start_hub
from greenroom.cli.terminal import escape_line, escape_lines, print_notice, show_json
from greenroom.cli.thread import need_thread_id
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.rules.workflows.verbs import WORKFLOW_RUN_VERBS

_POLL_S = 5
ENDED = ("completed", "failed", "cancelled")


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "dag", "check, draw, run and steer workflows", aliases=["workflow"])
    add = group.add
    add_file_verbs(add)
    run = add("run", run_run, "run a workflow file, or a stored workflow", "run release.yaml --input env=prod")
    run.add_argument("file", metavar="FILE", nargs="?", help="a YAML or JSON file, or the name of a stored workflow")
    run.add_argument(
        "--again",
        metavar="RUN",
        type=build_id_type("wfr"),
        help="run the workflow of an earlier run again, in its newest version; --input replaces inputs of that run",
    )
    run.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="an input (repeatable)")
    run.add_argument("--thread", help="the thread of the run, by id or topic")
    how = run.add_mutually_exclusive_group()
    how.add_argument("--follow", action="store_true", help="show the steps live (the default on a terminal)")
    how.add_argument("--wait", action="store_true", help="wait for the end, and print only what holds it up")
    how.add_argument("--detach", action="store_true", help="print the run's id and return at once")
    watch = add("follow", run_follow, "show the steps of a run live", "follow wfr_01m7...")
    watch.add_argument("id", metavar="RUN", type=build_id_type("wfr"))
    add_run_verbs(add)
    add_verbs(group.actions, WORKFLOW_RUN_VERBS, summarize_run)
    add_trigger_verbs(add)
    add_version_verbs(add)


def run_run(args: argparse.Namespace) -> int:
    client = open_client_or_start_hub(args)
    body = _build_body(args, client)
    if args.thread:
        body["thread_id"] = need_thread_id(client, args.thread)
    run = client.post("workflow-runs", body=body)
    if args.detach:
        show_json(summarize_run(run)) if args.json else print(run["id"])
        return 0
    shows = not args.json and (args.follow or (sys.stdout.isatty() and not args.wait))
    return wait_for_workflow_run(client, run["id"], shows, args.json)


def _build_body(args: argparse.Namespace, client: HubClient) -> dict[str, Any]:
    """The body of the request: the definition in the file with its skills, or the name of a stored workflow."""
    import msgspec

    from greenroom.rules.workflows.checks.problems import BadWorkflow
    from greenroom.rules.workflows.definition import WorkflowDefinition
    from greenroom.rules.workflows.inputs import parse_input
    from greenroom.rules.workflows.parser.loader import parse_text
    from greenroom.services.workflow_files import build_known, load_file

    earlier = _need_earlier_run(args, client)
    file = Path(args.file or "")
    looks_like_file = not earlier and (file.suffix in (".yaml", ".yml", ".json") or file.exists())
    if looks_like_file:
        try:
            known = build_known(find_drivers(client))
            loaded = load_file(file, settings.resolve_data_dir(args.data), known, need_skills=False)
        except BadWorkflow as bad:
            raise Refused.in_words("bad_workflow", "\n".join(problem.text for problem in bad.problems[:20])) from bad
        definition = loaded.definition
        for problem in loaded.warnings:
            print_notice(f"! {escape_line(problem.text)}")
        where = {"source": str(file), "directory": str(file.resolve().parent)}
        text = file.read_text()
        says_it_all = (
            parse_text(text).definition == definition
        )  # without other files, so the hub can keep it as written
        body: dict[str, Any] = {"text": text} if says_it_all else {"definition": msgspec.to_builtins(definition)}
        body |= where
    else:
        name = earlier["workflow"] if earlier else args.file
        definition = msgspec.convert(client.get("workflows", name)["definition"], WorkflowDefinition)
        body = {"workflow": name, **{key: earlier[key] for key in ("thread_id", "directory") if earlier.get(key)}}
    inputs = {name: value for name, value in earlier.get("inputs", {}).items() if name in definition.inputs}
    for given in args.input:
        name, equals, text = given.partition("=")
        if not equals:
            raise Refused.in_words("bad_input", f"'{given}' is no input: write --input name=value.")
        inputs[name] = parse_input(definition, name, text)
    return {**body, "inputs": inputs}


def _need_earlier_run(args: argparse.Namespace, client: HubClient) -> dict[str, Any]:
    """The run that is to be run again, with its inputs; nothing if a workflow is named."""
    if bool(args.again) == bool(args.file):
        raise Refused.in_words("bad_use", "Say what to run: a FILE, the name of a workflow, or --again RUN.")
    if not args.again:
        return {}
    shown = client.get("workflow-runs", args.again)
    return {**shown["run"], "inputs": shown["facts"].get("inputs", {})}


def run_follow(args: argparse.Namespace) -> int:
    return wait_for_workflow_run(open_client(args), args.id, not args.json, args.json)


def _show_output(run: dict[str, Any]) -> None:
    """What came of a run, unless it would drive the steps off the screen."""
    text = escape_lines(format_output(run["output"]))
    if text.count("\n") < shutil.get_terminal_size().lines:
        print(text)
    else:
        print_notice(f"`greenroom dag report {run['id']}` shows what came of it")


def _wait_until_ended(client: HubClient, run_id: str, as_json: bool) -> dict[str, Any]:
    """Wait for the end of the run, also across a restart of the hub, and print once what it waits for."""
    told: list[str] = []
    run: dict[str, Any] = retry_while_away(partial(client.get, "workflow-runs", run_id, "wait", for_s=1))
    while run["status"] not in ENDED:
        held_up = (
            [] if as_json else find_blockers(retry_while_away(partial(client.get, "workflow-runs", run_id, "report")))
        )
        for words in held_up:
            if words not in told:
                print_notice(f"waiting — {words}")
        told = held_up
        run = retry_while_away(partial(client.get, "workflow-runs", run_id, "wait", for_s=_POLL_S))
    return run


def wait_for_workflow_run(client: HubClient, run_id: str, shows: bool, as_json: bool) -> int:
    """Wait for a run's end, and show its progress if asked to; the exit code says whether it completed."""
    try:
        run = follow_run(client, run_id) if shows else _wait_until_ended(client, run_id, as_json)
    except (KeyboardInterrupt, HubUnreachable) as no:
        goes_on = "the run goes on" if isinstance(no, KeyboardInterrupt) else "the run goes on with its hub"
        print_notice(f"\ngreenroom: {goes_on}; `greenroom dag follow {run_id}` shows it again")
        raise
    if as_json:
        report = retry_while_away(partial(client.get, "workflow-runs", run_id, "report"))
        show_json({**summarize_run(run), "steps": report["steps"]})
    elif run["status"] == "completed":
        if not shows:
            show_report(retry_while_away(partial(client.get, "workflow-runs", run_id, "report")))
        elif run.get("output") is not None:
            _show_output(run)
    else:
        print_notice(f"greenroom: the workflow {run_id} {run['status']}: {escape_line(run.get('error') or '')}")
        print_notice(f"greenroom: `greenroom dag logs {run_id}` shows what its agents said and did")
        print_notice(f"greenroom: `greenroom dag retry {run_id}` takes it up again, keeping what is finished")
    return 0 if run["status"] == "completed" else 1
