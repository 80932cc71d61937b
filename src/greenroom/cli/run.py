"""`greenroom run` and `greenroom invite`: start an agent and follow what it does."""

import argparse
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom import settings
from greenroom.cli.arg_parser import parse_amount, parse_count
from greenroom.cli.ask_prompt import get_ask_prompt
from greenroom.cli.client import HubClient, HubUnreachable, add_options, get_own_url, open_client, retry_while_away
from greenroom.cli.ids import build_id_type
from greenroom.cli.profile import tell_wrong_files
from greenroom.cli.terminal import escape_line, escape_lines, print_notice, read_stdin, show_json
from greenroom.cli.thread import need_thread_id
from greenroom.errors import Refused

if TYPE_CHECKING:
    from greenroom.runtimes.local_conversations import LocalConversation

_START_S = 60.0
_POLL_S = 2
_UNTAKEN_S = 10.0
"""After this time, tell the person that a run has not started."""
ENDED = ("completed", "failed", "cancelled", "interrupted")


def add_to(verbs: Any) -> None:
    run = verbs.add_parser(
        "run",
        help="start an agent and wait for its answer",
        description=(
            "Start an agent from a profile with a prompt, and wait until it has finished. Starts a hub if none runs."
        ),
        epilog="example: greenroom run rehearsal 'SAY hello'",
    )
    add_options(run)
    run.add_argument("profile", metavar="PROFILE")
    run.add_argument("prompt", metavar="PROMPT", help="the task; - reads it from standard input")
    how = run.add_mutually_exclusive_group()
    how.add_argument("--follow", action="store_true", help="show what the agent says and does as it happens")
    how.add_argument("--detach", action="store_true", help="print the run's id and return at once")
    run.add_argument("--thread", help="the thread of the run, by id or topic")
    run.add_argument(
        "--directory",
        metavar="DIR",
        help="working directory (default: the profile's, else the current one if agents run only on this machine)",
    )
    run.add_argument(
        "--worktree", action="store_true", help="work in a git worktree of that directory, on a new branch"
    )
    run.add_argument("--model", help="the model, instead of the profile's")
    run.add_argument(
        "--agent", type=build_id_type("agt"), help="continue with a kept agent, by id or the name that it is kept under"
    )
    run.add_argument("--keep-as", metavar="NAME", help="keep the agent under this name for further runs")
    run.add_argument("--session", metavar="ID", help="continue a conversation that `greenroom agent sessions` lists")
    run.add_argument("--node", type=build_id_type("node"), help="the node that runs it")
    run.add_argument("--timeout", type=parse_count, metavar="SECONDS", help="pause and ask after this time")
    run.add_argument("--tokens", type=parse_count, metavar="N", help="pause and ask after this many tokens")
    run.add_argument("--cost", type=parse_amount, metavar="USD", help="pause and ask after this cost in dollars")
    run.set_defaults(run=run_run)
    invite = verbs.add_parser(
        "invite",
        help="invite an agent into a thread",
        epilog='example: greenroom invite claude --thread "First meeting"',
    )
    add_options(invite)
    invite.add_argument("profile", metavar="PROFILE", help="a profile, or an agent of the thread to wake")
    invite.add_argument("--thread", required=True, help="the thread, by id or topic")
    invite.add_argument("--prompt", help="the prompt, instead of the usual invitation")
    invite.set_defaults(run=run_invite)


def run_run(args: argparse.Namespace) -> int:
    client = open_client_or_start_hub(args)
    prompt = read_stdin() if args.prompt == "-" else args.prompt
    past = _get_past_session(args.session) if args.session else None
    body = {
        "profile": args.profile,
        "prompt": prompt,
        "agent": args.agent,
        "keep_as": args.keep_as,
        "thread_id": args.thread and need_thread_id(client, args.thread),
        "node": args.node,
        "directory": past.directory if past and not args.directory else _choose_directory(args, client),
        "session": args.session,
        "model": args.model,
        "worktree": args.worktree or None,
        "timeout_s": args.timeout,
        "max_tokens": args.tokens,
        "max_cost_usd": args.cost,
    }
    run = client.post("runs", body={name: value for name, value in body.items() if value is not None})
    _tell_wrong_file(client, args.profile)
    waits_for = _describe_pinned_node(client, run)
    if waits_for:
        print_notice(f"waiting — {escape_line(waits_for)}")
    if args.detach:
        summary = _summarize_run(run) | ({"waits_for": waits_for} if waits_for else {})
        show_json(summary) if args.json else print(run["id"])
        return 0
    return wait_for_run(client, run["id"], args.follow and not args.json, args.json, told=waits_for)


def _describe_pinned_node(client: HubClient, run: dict[str, Any]) -> str:
    """Why the node that a run is pinned to does not take it now, and what to do; empty if it does."""
    pinned = run.get("pinned") if run["status"] == "pending" else None
    node = next((one for one in client.get("nodes") if pinned in (one["id"], one["name"])), None) if pinned else None
    if node is None:
        return ""
    if node.get("draining"):
        return f"for the node {node['name']}, which is drained: `greenroom node undrain {node['name']}`"
    if node.get("state") != "connected":
        return f"for the node {node['name']}, which is not connected: see `greenroom node list`"
    return ""


def _tell_wrong_file(client: HubClient, profile: str) -> None:
    """Warn that the agent did not start from a profile's new file, because that has an error."""
    tell_wrong_files([wrong for wrong in client.get("profile-files") if wrong["name"] == profile], {profile})


def _get_past_session(session: str) -> "LocalConversation | None":
    from greenroom.runtimes.local_conversations import get_local_conversation

    return get_local_conversation(os.environ, session)


def _choose_directory(args: argparse.Namespace, client: HubClient) -> str | None:
    """The working directory of the agent: by default the current project, and never the whole home."""
    if args.directory:
        return args.directory if args.node else str(Path(args.directory).expanduser().absolute())
    here = Path.cwd()
    data = settings.resolve_data_dir(args.data)
    if (
        args.agent
        or args.node
        or client.url != get_own_url(data)
        or any(p.is_relative_to(here) for p in (Path.home(), data))
    ):
        return None
    nodes = [node for node in client.get("nodes") if node.get("state") == "connected"]
    if not all(node.get("local") for node in nodes):
        return None
    return None if client.get("profiles", args.profile)["definition"].get("directory") else str(here)


def wait_for_run(client: HubClient, run_id: str, follow: bool, as_json: bool, told: str = "") -> int:
    """Wait for a run's end, and show its progress if asked to; the exit code says whether it completed.

    `told` is what the person already knows that it waits for.
    """
    try:
        run = _wait_until_ended(client, run_id, follow, as_json, told)
    except KeyboardInterrupt:
        print_notice(
            f"The run goes on: `greenroom runs follow {run_id}` takes it up, `greenroom runs cancel {run_id}` ends it."
        )
        raise
    if as_json:
        show_json(_summarize_run(run))
    elif run["status"] == "completed":
        if not follow:
            print(escape_lines(run.get("output") or ""))
    else:
        print_notice(f"greenroom: the run {run_id} {run['status']}: {escape_line(run.get('error') or '')}")
    return 0 if run["status"] == "completed" else 1


def _wait_until_ended(client: HubClient, run_id: str, follow: bool, as_json: bool, told: str) -> dict[str, Any]:
    """Wait for the end of the run, also across a restart of the hub, and print once what it waits for."""
    shown, began = 0, time.monotonic()
    prompt = None if as_json else get_ask_prompt(client)
    while True:
        run: dict[str, Any] = retry_while_away(
            partial(client.get, "runs", run_id, "wait", for_s=1 if follow else _POLL_S)
        )
        if follow:
            for item in retry_while_away(partial(client.get, "runs", run_id, "items", after=shown)):
                shown = item["number"]
                show_item(item)
        if run["status"] in ENDED:
            return run
        if prompt is not None and prompt.prompt_next(run_id):
            continue
        waits_for = _describe_pinned_node(client, run) or _describe_wait(run, time.monotonic() - began)
        if waits_for and waits_for != told and not as_json:
            print_notice(f"waiting — {escape_line(waits_for)}")
        told = waits_for


def _describe_wait(run: dict[str, Any], for_s: float) -> str:
    """What keeps a run from continuing, and what to do about it."""
    if run["status"] == "waiting" and run.get("waiting_for"):
        what_to_do = "it goes on by itself" if run.get("goes_on_at") else "see `greenroom ask list`"
        return f"{run['waiting_for']} ({what_to_do})"
    if run["status"] == "pending" and run.get("node_id"):
        return "for the agent's program, which is being started" if for_s > _UNTAKEN_S else ""
    if run["status"] == "pending" and for_s > _UNTAKEN_S:
        which = f"the node {run['pinned']}" if run.get("pinned") else "a node that takes it"
        return f"for {which} (see `greenroom node list`)"
    return ""


def show_item(item: dict[str, Any]) -> None:
    """One item of an agent, as text."""
    data = item["data"]
    match item["kind"]:
        case "said":
            print(escape_lines(data.get("text") or ""))
        case "thought":
            print(f"  … {escape_line(data.get('text') or '')}")
        case "call_started":
            print(f"  → {escape_line(data.get('title') or data.get('tool') or '')}")
        case "permission_asked":
            print(f"  ? {escape_line(data.get('title') or data.get('tool') or '')}")
        case "call_finished":
            print(f"  {'✓' if data.get('ok') else '✗'} {escape_line(str(data.get('output') or ''))[:200]}")
        case _:
            return


def _summarize_run(run: dict[str, Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": run.get("input_tokens", 0),
        "output_tokens": run.get("output_tokens", 0),
        "cost_usd": run.get("cost_usd"),
        **({"is_partial": True} if run.get("is_usage_partial") else {}),
    }
    names = ("status", "output", "result", "error", "agent_id", "profile", "root_id", "parent_id")
    return {"run_id": run["id"], **{name: run.get(name) for name in names}, "usage": usage}


def open_client_or_start_hub(args: argparse.Namespace) -> HubClient:
    try:
        client = open_client(args)
        if args.url or client.is_reachable():
            return client
    except HubUnreachable:
        if args.url:
            raise
    data = settings.resolve_data_dir(args.data)
    command = [sys.executable, "-m", "greenroom", "serve", "--data", str(data)]
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (data / "serve.log").open("ab") as log:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and started.poll() is None:
        if get_own_url(data) is not None:
            client = open_client(args)
            if client.is_reachable():
                where = f" --data {args.data}" if args.data else ""
                print_notice(f"greenroom: started a hub at {client.url} (stop it with: greenroom stop{where})")
                return client
        time.sleep(0.1)
    last = (data / "serve.log").read_text(errors="replace").strip().rpartition("\n")[2].removeprefix("greenroom: ")
    raise Refused.in_words("no_hub", f"A hub could not be started: {last} (see {data / 'serve.log'})")


def run_invite(args: argparse.Namespace) -> int:
    body = {"agent_name": args.profile, **({"prompt": args.prompt} if args.prompt else {})}
    client = open_client(args)
    invited = client.post("threads", need_thread_id(client, args.thread), "invite", body=body)
    _tell_wrong_file(client, args.profile)
    if args.json:
        show_json(invited)
    else:
        print(f"{escape_line(invited['agent_name'])} is being started as {invited['agent_id']} ({invited['run_id']})")
    return 0
