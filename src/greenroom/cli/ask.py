"""`greenroom ask`: list, show, answer, snooze and delegate asks in the terminal."""

import argparse
import json
import time
from typing import Any

from greenroom.cli.arg_parser import add_limit_option
from greenroom.cli.ask_answers import need_only_open, run_answer
from greenroom.cli.ask_rule import add_rule_options
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import (
    colour_text,
    escape_line,
    escape_lines,
    format_age,
    format_duration,
    print_notice,
    show_json,
    show_table,
    truncate_text,
)
from greenroom.cli.verb_group import VerbGroup, add_group
from greenroom.cli.verbs import add_verbs
from greenroom.cli.watch import add_watch
from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, RISKS
from greenroom.rules.asks.verbs import ASK_VERBS

_PAGE = 500
_TITLE = 80
_STATES = ("open", "answered", "expired", "withdrawn", "all")


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "ask", "list and answer what waits for you")
    listing = group.add("list", run_list, "list open asks, high risk first", "list --kind permission")
    listing.add_argument("--state", "--status", choices=_STATES, default="open", help="(default: open)")
    listing.add_argument("--kind", choices=tuple(ASK_KINDS))
    listing.add_argument("--risk", choices=RISKS[::-1])
    listing.add_argument("--run", dest="run_id", metavar="RUN", type=build_id_type("run"), help="only asks of this run")
    add_limit_option(listing, None)
    show = group.add("show", run_show, "show an ask: the exact call, and its answer", "show ask_01m7...")
    show.add_argument(
        "id", metavar="ID", nargs="?", type=build_id_type("ask"), help="the ask (default: the only open one)"
    )
    answer = group.add("answer", run_answer, "answer a question", "answer ask_01m7... --text 'use 8080'")
    _add_ids_argument(answer)
    _add_text_options(answer)
    answer.add_argument("--option", action="append", default=[], help="a choice (repeatable)")
    answer.add_argument("--form", metavar="JSON", help="the filled form, as JSON")
    answer.add_argument("--file", action="append", default=[], metavar="FILE", help="attach a file (repeatable)")
    answer.set_defaults(verdict="answer")
    for verdict, help_text in (("approve", "approve calls, gates and decisions"), ("deny", "deny asks, with a text")):
        one = group.add(verdict, run_answer, help_text, f"{verdict} ask_01m7... ask_01m8...")
        _add_ids_argument(one)
        _add_text_options(one)
        one.add_argument(
            "--for",
            dest="scope",
            choices=("once", "call", "run", "profile", "rule"),
            default="once",
            help=(
                "scope: as the rule says, this call only, similar calls of the run or the profile, or a "
                "new rule (default: once)"
            ),
        )
        add_rule_options(one)
        if verdict == "approve":
            one.add_argument("--arguments", metavar="JSON", help="run the call with these arguments instead")
            one.add_argument("--digest", help="approve the call that `ask show` printed with this digest")
            one.add_argument("--form", metavar="JSON", help="the filled form, as JSON")
            one.add_argument("--yes", action="store_true", help="with ID: approve high risk without typing the word")
        one.set_defaults(verdict=verdict)
    _add_other_verbs(group)
    add_watch(group.actions, "greenroom ask watch --json")


def _add_other_verbs(group: VerbGroup) -> None:
    """The actions on an ask other than answering it."""
    snooze = group.add("snooze", run_snooze, "hide asks for a while", "snooze ask_01m7... --for 1h")
    snooze.add_argument("ids", metavar="ID", nargs="+", type=build_id_type("ask"))
    snooze.add_argument(
        "--for", dest="time", default="1h", metavar="TIME", help="such as 30m, 2h, 1d; 0 shows it again"
    )
    add_verbs(group.actions, ASK_VERBS)


def _add_ids_argument(parser: argparse.ArgumentParser) -> None:
    says = "ids (default: the only open ask, which is shown first)"
    parser.add_argument("ids", metavar="ID", nargs="*", type=build_id_type("ask"), help=says)


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", default="", help="text for the agent")
    parser.add_argument("--name", default="", help="your name, shown next to your credential")


def run_list(args: argparse.Namespace) -> int:
    wanted = {"state": args.state, "kind": args.kind, "risk": args.risk, "run_id": args.run_id}
    found = find_asks(open_client(args), **wanted)
    found.sort(key=lambda ask: (-RISKS.index(ask.get("risk", "low")), ask["asked_at"]))
    shown = found[: args.limit]
    if args.json:
        show_json(shown)
        return 0
    rows = [
        (
            a["id"],
            a["kind"],
            a.get("risk", "low"),
            format_age(a["asked_at"]),
            a["asker"].get("name", ""),
            describe_state(a),
            _format_title(a),
        )
        for a in shown
    ]
    show_table(rows, ["ID", "KIND", "RISK", "AGE", "AGENT", "STATE", "WHAT"], "No asks found.")
    if len(shown) < len(found):
        print_notice(f"greenroom: There are {len(found)} asks: see more with --limit.")
    return 0


def _format_title(ask: dict[str, Any]) -> str:
    return truncate_text(escape_line(ask["title"]), _TITLE)


def find_asks(client: HubClient, **wanted: Any) -> list[dict[str, Any]]:
    """All asks that are wanted, page by page."""
    found: list[dict[str, Any]] = []
    after = 0
    while True:
        page = client.get("asks", after=after, limit=_PAGE, **wanted)
        found += page["asks"]
        if page["next"] is None:
            return found
        after = page["next"]


def describe_state(ask: dict[str, Any]) -> str:
    """Where an ask stands, in a word or two."""
    if ask["state"] == "answered":
        answer = ask["answer"]
        return f"{answer['verdict']} by {answer.get('rule') or answer['name']}"
    if ask["state"] == "open" and ask.get("snoozed_until", 0) > time.time() * 1000:
        return "snoozed"
    if ask["state"] == "open" and ask.get("deadline"):
        return f"{format_duration(max(0, ask['deadline'] // 1000 - int(time.time())) * 1000)} left"
    return str(ask["state"])


def _format_votes(ask: dict[str, Any], side: str) -> str:
    """How many people voted like this, if several have a vote."""
    names = ", ".join(one.get("seat") or one["name"] for one in ask.get(side, []))
    needed = f" ({ask['approvers']} needed)" if side == "approvals" and ask.get("approvers", 1) > 1 else ""
    return names + needed


def run_show(args: argparse.Namespace) -> int:
    client = open_client(args)
    ask = client.get("asks", args.id) if args.id else need_only_open(client)
    if args.json:
        show_json(ask)
        return 0
    for name, value in (
        ("id", ask["id"]),
        ("kind", ask["kind"]),
        ("state", describe_state(ask)),
        ("risk", ask.get("risk", "low")),
        ("who", ask["asker"].get("name", "")),
        ("run", ask.get("run_id", "")),
        ("why asked", ask.get("why", "")),
        ("asked of", ", ".join(ask.get("asked_of", []))),
        ("handed to", ask.get("delegated_to", "")),
        ("yes", _format_votes(ask, "approvals")),
        ("no", _format_votes(ask, "refusals")),
        ("votes", ", ".join(f"{one.get('seat') or one['name']}: {one['option']}" for one in ask.get("votes", []))),
        ("digest", ask.get("digest", "")),
    ):
        if value:
            print(f"{name:10} {colour_text(escape_line(value)) if name in ('state', 'risk') else escape_line(value)}")
    for name, value in ask.get("subject", {}).items():
        print(f"{name:10} {json.dumps(value, ensure_ascii=True)}")  # every byte that will run, escaped
    for number, question in enumerate(ask.get("questions", []), 1):
        print(f"{number}. {escape_lines(question['question'])}")
        for option in question.get("options", []):
            print(f"   - {escape_line(option['label'])}  {escape_line(option.get('description', ''))}")
    said = ask.get("text") or ask["title"]
    print(f"it says:\n{_indent_text(said)}")
    if ask.get("answer", {}).get("text"):
        print(f"answer:\n{_indent_text(ask['answer']['text'])}")
    return 0


def _indent_text(text: str) -> str:
    return "\n".join(f"    {row}" for row in escape_lines(text).split("\n"))


def run_snooze(args: argparse.Namespace) -> int:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, unit = (args.time[:-1], args.time[-1]) if args.time[-1:] in units else (args.time, "s")
    if not number.isdigit():
        raise Refused.in_words("bad_time", f"'{args.time}' is no time: write 30m, 2h or 1d.")
    body = {"for_s": int(number) * units[unit]} if int(number) else {"until": 0}
    client = open_client(args)
    done = [client.post("asks", ask_id, "snooze", body=body) for ask_id in args.ids]
    if args.json:
        show_json(done)
    else:
        for ask in done:
            print_notice(f"{ask['id']}: {'put off' if int(number) else 'back'}")
    return 0
