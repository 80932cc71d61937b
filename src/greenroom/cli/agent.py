"""`greenroom agent`: list, register, stop and remove agents."""

import argparse
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli import attach
from greenroom.cli.arg_parser import add_limit_option, parse_count
from greenroom.cli.client import add_data_option, add_json_option, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, format_age, print_notice, show_json, show_table
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.rules.agents.verbs import AGENT_VERBS
from greenroom.rules.runs.verbs import AGENT_PROCESS_VERBS
from greenroom.runtimes.agents import AGENTS

_STATES = ("starting", "busy", "idle", "asleep", "online", "away", "invitable")
_KEEPERS = " and ".join(agent.display_name for agent in AGENTS if agent.conversations)


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "agent", "list, register, attach to and remove agents")
    listing = group.add(
        "list",
        run_list,
        "list agents, and profiles that you can invite",
        "list --status busy",
        "List agents that are working, kept, registered or asleep in an open thread, and the profiles "
        "that you can invite.",
    )
    listing.add_argument(
        "--all", action="store_true", help="also agents whose run has ended and that nobody keeps or can wake"
    )
    listing.add_argument("--status", choices=_STATES, help="only agents with this status")
    add_limit_option(listing, None)
    listing.add_argument("--dag-run", metavar="RUN", type=build_id_type("wfr"), help="only agents of this workflow run")
    register = group.add(
        "register",
        run_register,
        "register an agent, or update the one whose token you use",
        "register --called Ann --token-file ann.token",
        "Register an agent. With an agent's own token, update that agent. With a token that may "
        "enrol, create an agent and print its token.",
    )
    register.add_argument("--ide", default="shell", help="the program that it runs in (default: shell)")
    register.add_argument("--model", default="cli", help="its model (default: cli)")
    register.add_argument("--called", metavar="NAME", help="the name that others see")
    add_verbs(group.actions, (*AGENT_VERBS, *AGENT_PROCESS_VERBS))
    sessions = group.actions.add_parser(
        "sessions",
        help=f"conversations with {_KEEPERS} that you can continue",
        description=f"List the newest conversations that {_KEEPERS} have kept on this machine. `greenroom run"
        " PROFILE PROMPT --session ID` continues one.",
        epilog="example: greenroom agent sessions --json",
    )
    add_data_option(sessions)
    add_json_option(sessions)
    sessions.add_argument("--limit", type=parse_count, default=20, metavar="N", help="how many (default: 20)")
    sessions.set_defaults(run=run_sessions)
    attach.add_to(group.actions)


def run_list(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = client.get("agents", all=str(args.all or bool(args.dag_run)).lower())
    if args.dag_run:
        steps = client.get("workflow-runs", args.dag_run, "report")["steps"]
        own = {one["agent_id"] for step in steps for one in step["attempts"]}
        found = [agent for agent in found if agent["id"] in own]
    found = [agent for agent in found if args.status in (None, _describe_state(agent))]
    shown = found[: args.limit]
    if args.json:
        show_json(shown)
        return 0
    rows = [(a["id"], _describe_state(a), _format_age(a), a["kept_as"] or a["name"], a["display_name"]) for a in shown]
    show_table(rows, ("id", "is", "age", "name", "called"), "No agents found.")
    if len(shown) < len(found):
        print_notice(f"greenroom: There are {len(found)} agents: see more with --limit.")
    return 0


def _is_profile(agent: dict[str, Any]) -> bool:
    """Whether this is a profile to invite, and no agent yet."""
    return bool(agent["id"] == agent["profile"])


def _format_age(agent: dict[str, Any]) -> str:
    return "" if _is_profile(agent) else format_age(agent["registered_at"])


def _describe_state(agent: dict[str, Any]) -> str:
    if _is_profile(agent):
        return "invitable"
    return str(agent["process"] or ("online" if agent["is_online"] else "away"))


def run_sessions(args: argparse.Namespace) -> int:
    import msgspec

    from greenroom.runtimes.local_conversations import find_local_conversations

    own = settings.resolve_data_dir(args.data)  # what agents without a directory have said there is known to the hub
    found = [
        one for one in find_local_conversations(os.environ, args.limit) if not Path(one.directory).is_relative_to(own)
    ]
    if args.json:
        show_json(msgspec.to_builtins(found))
        return 0
    if not found:
        folders = ", ".join(f"~/{agent.conversations.folder}" for agent in AGENTS if agent.conversations)
        print_notice(f"None are found where {_KEEPERS} keep them ({folders}).")
        return 0
    last = [datetime.fromtimestamp(past.at).strftime("%Y-%m-%d %H:%M") for past in found]
    rows = [(one.session, one.driver, at, one.directory, one.words[:60]) for one, at in zip(found, last, strict=True)]
    show_table(rows, ("session", "of", "last", "where", "began with"))
    return 0


def run_register(args: argparse.Namespace) -> int:
    client = open_client(args)
    answer = client.post("agents", "register", body={"ide": args.ide, "model": args.model, "display_name": args.called})
    if args.json:
        show_json(answer)
        return 0
    print_notice(f"{escape_line(answer['display_name'])} is registered as {escape_line(answer['agent_id'])}.")
    if answer["token"] not in (None, client.token):
        print(answer["token"])
    return 0
