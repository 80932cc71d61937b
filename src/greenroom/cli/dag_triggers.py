"""`greenroom dag triggers|arm|disarm|hook`: what starts workflows automatically, and the keys that sign calls."""

import argparse
from typing import Any

from greenroom.cli.client import HubClient, open_client
from greenroom.cli.terminal import escape_line, show_json, show_table
from greenroom.cli.verb_group import Add
from greenroom.clock import format_iso
from greenroom.errors import Refused

Json = dict[str, Any]


def add_trigger_verbs(add: Add) -> None:
    triggers = add("triggers", run_triggers, "list the triggers of workflows", "triggers nightly-triage")
    triggers.add_argument("workflow", metavar="WORKFLOW", nargs="?")
    for name, run, says in (
        ("arm", run_arm, "arm the triggers of a workflow"),
        ("disarm", run_disarm, "disarm the triggers of a workflow"),
    ):
        one = add(name, run, says, f"{name} nightly-triage")
        one.add_argument("workflow", metavar="WORKFLOW")
        one.add_argument("trigger", metavar="TRIGGER", nargs="?", help="only this trigger (default: all)")
    hook = add("hook", run_hook, "show the URL and the key for calling a waiting step", "hook deploy")
    hook.add_argument("name", metavar="NAME", help="the name that the step waits for (wait: webhook)")


def run_triggers(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = client.get("triggers", workflow=args.workflow)
    if args.workflow and not found:
        client.get("workflows", args.workflow)  # refused if there is none of that name
    show_json(found) if args.json else _show(found)
    return 0


def run_arm(args: argparse.Namespace) -> int:
    """Of triggers that wait for a signed call, the address and the secret are shown too."""
    client = open_client(args)
    armed = _post_each(client, args, "arm")
    for trigger in armed:
        if trigger["kind"] == "webhook":
            trigger |= client.get("triggers", trigger["id"], "secret")
    if args.json:
        show_json(armed)
        return 0
    _show(armed)
    for trigger in armed:
        if "secret" in trigger:
            print(f"\n{escape_line(trigger['name'])} takes calls at {client.url}{trigger['path']}, signed with")
            print(f"  {trigger['standard_secret']}")
    return 0


def run_disarm(args: argparse.Namespace) -> int:
    found = _post_each(open_client(args), args, "disarm")
    show_json(found) if args.json else _show(found)
    return 0


def run_hook(args: argparse.Namespace) -> int:
    client = open_client(args)
    given = client.get("hooks", args.name, "secret")
    if args.json:
        show_json(given)
    else:
        print(f"Call {client.url}{escape_line(given['path'])}, signed with\n  {given['standard_secret']}")
    return 0


def _post_each(client: HubClient, args: argparse.Namespace, verb: str) -> list[Json]:
    found = client.get("triggers", workflow=args.workflow)
    meant = [trigger for trigger in found if args.trigger in (None, trigger["name"])]
    if not meant:
        which = f"trigger '{args.trigger}'" if args.trigger else "trigger"
        raise Refused.in_words(
            "trigger_not_found",
            f"The workflow '{args.workflow}' has no {which} in the hub: bring it there with `greenroom dag run FILE`.",
            "not_found",
        )
    return [client.post("triggers", trigger["id"], verb) for trigger in meant]


def _show(triggers: list[Json]) -> None:
    rows = [
        (
            trigger["workflow"],
            trigger["name"],
            _describe_source(trigger),
            "armed" if trigger.get("armed") else "off",
            format_iso(trigger["due"]) if trigger.get("due") else "",
            trigger.get("error") or trigger.get("last_run") or "",
        )
        for trigger in triggers
    ]
    show_table(rows, ("workflow", "trigger", "waits for", "is", "due", "last"), "No triggers found.")


def _describe_source(trigger: Json) -> str:
    spec = trigger["spec"]
    match trigger["kind"]:
        case "cron":
            return f"{spec['cron']} {spec.get('timezone', 'UTC')}"
        case "message":
            return f"a message in {spec['message'].get('thread') or 'any thread'}"
        case "after":
            return f"the end of {spec['after']['workflow']}"
        case _:
            return "a signed call"
