"""`greenroom policy`: the rules that answer without a person, and how they would have answered earlier calls."""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

from greenroom.cli.arg_parser import parse_count
from greenroom.cli.client import open_client
from greenroom.cli.ids import build_id_type, need_id
from greenroom.cli.terminal import escape_line, explain_error, format_local_time, print_notice, show_json, show_table
from greenroom.cli.verb_group import add_group
from greenroom.clock import format_iso
from greenroom.errors import Refused

_LISTS = (
    ("tool", "tools", "NAME", "a tool's name; * stands for anything"),
    ("kind", "kinds", "KIND", "read, search, write, execute, network, plan, hub or other"),
    ("path", "paths", "PATTERN", "files, below the working directory unless with a leading /"),
    ("host", "hosts", "HOST", "hosts that the call reaches"),
    ("command", "commands", "WORDS", 'a command word by word, as "git status" or "npm run **"'),
    ("profile", "profiles", "NAME", "only calls of these profiles"),
    ("thread", "threads", "ID", "only calls in these threads"),
)

_NO_RULES = (
    "There are no rules. Agents may read inside the workspace, ask once per run before writing, and ask each time for"
    " everything else. To add a rule, run `greenroom policy add` or `greenroom policy templates`."
)


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "policy", "manage the rules that answer without a person")
    add = group.add
    add("list", run_list, "list rules in order, and grants", "list --json")
    trying = add(
        "try",
        run_try,
        "show how a rule would have answered earlier calls",
        'try --decision allow --command "git status" --last 50',
    )
    trying.add_argument("name", metavar="NAME", nargs="?", help="an existing rule to try or replace")
    trying.add_argument("--last", type=parse_count, default=100, metavar="N", help="the last N asks (default: 100)")
    trying.add_argument("--all", action="store_true", help="all judged calls, not only those that asked")
    _add_rule_options(trying, needed=False)
    adding = add("add", run_add, "add or replace a rule", 'add git --decision allow --command "git status"')
    adding.add_argument("name", metavar="NAME")
    adding.add_argument("--before", metavar="NAME", help="put it before this rule (default: at the end)")
    _add_rule_options(adding, needed=True)
    remove = add("remove", run_remove, "remove a rule, or a grant by its id", "remove git")
    remove.add_argument("name", metavar="NAME|ID")
    suggest = add("suggest", run_suggest, "suggest rules from people's answers", "suggest --times 5 --accept allow-ls")
    suggest.add_argument(
        "--times", type=parse_count, default=3, metavar="N", help="same answer at least N times (default: 3)"
    )
    suggest.add_argument("--accept", metavar="NAME", help="add the suggested rule of this name")
    templates = add("templates", run_templates, "list ready-made sets of rules", "templates --apply read-only")
    templates.add_argument("--apply", metavar="NAME", help="add the rules of this template")


def _add_rule_options(parser: argparse.ArgumentParser, *, needed: bool) -> None:
    source = parser.add_mutually_exclusive_group(required=needed)
    source.add_argument("--decision", choices=("allow", "deny", "ask"))
    source.add_argument("--file", metavar="FILE", help="the rule's keys in a .toml or .json file")
    for option, name, meta, says in _LISTS:
        kind = build_id_type("thr", suggests=False) if option == "thread" else str
        parser.add_argument(f"--{option}", action="append", dest=name, default=[], metavar=meta, type=kind, help=says)
    parser.add_argument("--argument", action="append", default=[], metavar="NAME=PATTERN", help="an argument's text")
    parser.add_argument(
        "--where", choices=("inside", "outside"), help="files inside or outside of the working directory"
    )
    parser.add_argument("--when", metavar="CEL", help="a condition, as 'depth > 1 && risk == \"high\"'")
    parser.add_argument("--hours", metavar="FROM-TO", help="as 09:00-18:00")
    parser.add_argument("--risk", choices=("low", "medium", "high"), help="the risk to show")
    parser.add_argument("--once", choices=("run",), help="an approval covers similar calls of the run")
    parser.add_argument("--note", metavar="WORDS", help="why the rule is there")


def _build_rule(args: argparse.Namespace) -> dict[str, Any] | None:
    if args.file:
        path = Path(args.file)
        try:
            text = path.read_text()
            found: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except (OSError, ValueError) as error:
            raise Refused.in_words("bad_rule", f"{path} cannot be read: {explain_error(error)}") from error
        if not isinstance(found, dict):
            raise Refused.in_words("bad_rule", f"{path} holds no rule: write its keys, such as decision.")
        return found
    if args.decision is None:
        return None
    rule: dict[str, Any] = {"decision": args.decision}
    rule |= {name: getattr(args, name) for _, name, _, _ in _LISTS if getattr(args, name)}
    for pair in args.argument:
        name, sign, pattern = pair.partition("=")
        if not sign:
            raise Refused.in_words("bad_rule", f"'{pair}' is no argument: write NAME=PATTERN.")
        rule.setdefault("arguments", {})[name] = pattern
    single = ("where", "when", "hours", "risk", "once", "note")
    return rule | {name: getattr(args, name) for name in single if getattr(args, name)}


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("policy")
    if args.json:
        show_json(found)
        return 0
    for wrong in found["wrong"]:
        print_notice(
            f"✗ {escape_line(wrong['file'])}: {escape_line(wrong['key'])}: {escape_line(wrong['problem'])} — "
            "the last good version is used"
        )
    rows = [(r["name"], r["rule"]["decision"], _describe_rule(r["rule"]), r["source"]) for r in found["rules"]]
    show_table(rows, ("name", "says", "about", "from"), _NO_RULES)
    if found["grants"]:
        print()
        grants = [(g["id"], g["scope"], g["holder"], g["words"], g["by"]) for g in found["grants"]]
        show_table(grants, ("yes", "for", "of", "to", "by"))
    return 0


def _describe_rule(rule: dict[str, Any]) -> str:
    hidden = ("decision",) if rule.get("calls") else ("decision", "note")  # the key of a call says nothing to a person
    shown = {name: value for name, value in rule.items() if name not in hidden}
    if "until" in shown:
        shown["until"] = format_local_time(format_iso(shown["until"]))
    return "; ".join(f"{name}={_format_value(value)}" for name, value in shown.items()) or "everything"


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def run_try(args: argparse.Namespace) -> int:
    client = open_client(args)
    body = {"rule": _build_rule(args), "name": args.name, "last": args.last, "all": args.all}
    found = client.post("policy", "try", body={k: v for k, v in body.items() if v is not None})
    if args.json:
        show_json(found)
        return 0
    rows = [
        (one["tool"], one["words"], one["was"], one["answer"] or "", one["would"], one["rule"])
        for one in found["lines"]
    ]
    show_table(rows, ("tool", "call", "was", "answered", "would be", "by"), "No calls found to try the rule on.")
    said = f"{found['judged']} calls: {found['fitting']} fit the rule, {found['changed']} would be judged otherwise"
    print_notice(f"{said}, {found['against_people']} against what a person said.")
    return 0


def run_add(args: argparse.Namespace) -> int:
    client = open_client(args)
    body = {"rule": _build_rule(args)} | ({"before": args.before} if args.before else {})
    kept = client.put("policy", "rules", args.name, body=body)
    show_json(kept) if args.json else print(f"The rule {escape_line(kept['name'])} holds from now on.")
    return 0


def run_remove(args: argparse.Namespace) -> int:
    client = open_client(args)
    if args.name.startswith("grt_"):
        client.delete("policy", "grants", need_id(client, args.name, "grt"))
    else:
        client.delete("policy", "rules", args.name)
    show_json({"removed": args.name}) if args.json else print(f"{escape_line(args.name)} does not hold any more.")
    return 0


def run_suggest(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = client.get("policy", "suggestions", times=args.times)
    if args.accept:
        chosen = next((one for one in found if one["name"] == args.accept), None)
        if chosen is None:
            raise Refused.in_words(
                "rule_not_found", f"No rule '{args.accept}' is suggested: see `greenroom policy suggest`."
            )
        found = client.put("policy", "rules", args.accept, body={"rule": chosen["rule"]})
        show_json(found) if args.json else print(f"The rule {escape_line(args.accept)} holds from now on.")
        return 0
    if args.json:
        show_json(found)
        return 0
    rows = [(one["name"], one["rule"]["decision"], _describe_rule(one["rule"]), one["words"]) for one in found]
    none = f"No rules to suggest: people have not answered alike {args.times} times."
    show_table(rows, ("name", "would say", "about", "because"), none)
    return 0


def run_templates(args: argparse.Namespace) -> int:
    client = open_client(args)
    if args.apply:
        applied = client.post("policy", "templates", args.apply)
        show_json(applied) if args.json else print(
            f"These rules hold from now on: {escape_line(', '.join(applied['names']))}"
        )
        return 0
    found = client.get("policy", "templates")
    if args.json:
        show_json(found)
        return 0
    show_table([(one["name"], len(one["rules"]), one["words"]) for one in found], ("name", "rules", "what for"))
    return 0
