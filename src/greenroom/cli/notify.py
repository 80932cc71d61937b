"""`greenroom notify`: the channels that notify you when something waits for you."""

import argparse
from typing import Any

from greenroom.cli.client import open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, print_notice, show_json, show_table
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.rules.channels.verbs import CHANNEL_VERBS

_ALL, _NEVER = "all", "never"


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "notify", "choose where you get notifications")
    group.add("list", run_list, "list channels and their rules", "list --json")
    add = group.add(
        "add",
        run_add,
        "add a channel: ntfy, a chat room or a webhook",
        "add --ntfy https://ntfy.sh/my-topic --quiet 22:00-07:00 --zone Europe/Berlin",
        "Add a browser in the page's settings instead. A channel gets only the title of an ask and a "
        "link that opens it.",
    )
    where = add.add_mutually_exclusive_group(required=True)
    where.add_argument("--ntfy", metavar="URL", help="the address of a topic")
    where.add_argument("--chat", metavar="URL", help="incoming webhook of a room in Slack, Mattermost, Discord, ...")
    where.add_argument("--webhook", metavar="URL", help="an address that accepts JSON by POST")
    add.add_argument("--name", help="a name for your lists")
    add.add_argument("--ntfy-token", metavar="TOKEN", help="access token of the ntfy server")
    _add_rule_options(add)
    change = group.add(
        "set", run_set, "change the rules of a channel; the others stay", "set chn_01m7... --kind permission"
    )
    change.add_argument("id", metavar="ID", type=build_id_type("chn"))
    _add_rule_options(change)
    add_verbs(group.actions, CHANNEL_VERBS)
    test = group.add("test", run_test, "send a test notification", "test chn_01m7...")
    test.add_argument("id", metavar="ID", type=build_id_type("chn"))


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", action="append", help=f"only asks of this kind, or {_ALL} (repeatable)")
    parser.add_argument("--risk", action="append", help=f"only asks of this risk, or {_ALL} (repeatable)")
    parser.add_argument("--quiet", metavar="HOURS", help=f"quiet hours, as 22:00-07:00, or {_NEVER}")
    parser.add_argument("--zone", help="the time zone of those hours (default: UTC)")
    parser.add_argument("--loud", action="append", help="a risk that notifies in quiet hours too (default: high)")


def _read_rules(args: argparse.Namespace) -> dict[str, Any]:
    """The rules that were said, and no others."""
    rules = {"kinds": args.kind, "risks": args.risk, "quiet": args.quiet, "zone": args.zone, "loud": args.loud}
    rules["quiet"] = "" if args.quiet == _NEVER else args.quiet
    for name in ("kinds", "risks"):
        rules[name] = [] if _ALL in (rules[name] or ()) else rules[name]
    return {name: value for name, value in rules.items() if value is not None}


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("notify")["channels"]
    if args.json:
        show_json(found)
    else:
        rows = [(c["id"], c["kind"], c["name"], c["host"], _format_rules(c), c.get("failed", "")) for c in found]
        show_table(rows, ("id", "kind", "name", "to", "rules", "failed"), "No notification channels found.")
    return 0


def _format_rules(channel: dict[str, Any]) -> str:
    rules = channel.get("rules", {})
    quiet = f"quiet {rules['quiet']} {rules.get('zone', 'UTC')}" if rules.get("quiet") else ""
    return " ".join([*rules.get("kinds", []), *rules.get("risks", []), quiet]).strip() or "everything"


def run_add(args: argparse.Namespace) -> int:
    ways = {"ntfy": args.ntfy, "chat": args.chat, "webhook": args.webhook}
    kind, url = next((kind, url) for kind, url in ways.items() if url)
    body = {"kind": kind, "name": args.name or kind, "url": url, "rules": _read_rules(args)}
    if args.ntfy_token:
        body["token"] = args.ntfy_token
    made = open_client(args).post("notify", "channels", body=body)
    if args.json:
        show_json(made)
        return 0
    print(f"{escape_line(made['channel']['id'])} is added.")
    if made["key"]:
        print_notice("It is signed as Standard Webhooks has it, with this key, which is shown this once:")
        print(made["key"])
    return 0


def run_set(args: argparse.Namespace) -> int:
    client = open_client(args)
    rules = {one["id"]: one.get("rules", {}) for one in client.get("notify")["channels"]}
    changed = client.put("notify", "channels", args.id, body={**rules.get(args.id, {}), **_read_rules(args)})
    if args.json:
        show_json(changed)
    else:
        print(f"{escape_line(args.id)}: {escape_line(_format_rules(changed))}")
    return 0


def run_test(args: argparse.Namespace) -> int:
    tried = open_client(args).post("notify", "channels", args.id, "test")
    if args.json:
        show_json(tried)
    else:
        print("It was taken." if tried["ok"] else f"It was not taken: {escape_line(tried['error'])}")
    return 0 if tried["ok"] else 1
