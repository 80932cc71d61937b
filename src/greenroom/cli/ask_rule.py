"""The rule that `ask approve --for rule` creates: its scope, and which earlier calls it would have answered."""

import argparse
from typing import Any

from greenroom.cli.client import HubClient
from greenroom.cli.terminal import escape_line, print_notice
from greenroom.errors import Refused
from greenroom.link.ask_kinds import AnswerVerdict

_KEYS = ("what", "who", "where", "lasts", "risk")
_TOLD = 3


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="KEY=CHOICE",
        help="with --for rule: narrow or widen it, as lasts=30d or where=anywhere (repeatable)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would happen, without answering")


def parse_rule_options(pairs: list[str]) -> dict[str, str]:
    """The scope of the rule, as it was typed."""
    chosen: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or key not in _KEYS:
            raise Refused.in_words(
                "bad_choice", f"'{pair}' is no choice: write {', '.join(f'{one}=...' for one in _KEYS)}."
            )
        chosen[key] = value
    return chosen


def show_rule(client: HubClient, ask_id: str, verdict: AnswerVerdict, chosen: dict[str, str]) -> None:
    """Show a person the rule before it is saved."""
    decision = "allow" if verdict == "approve" else "deny"
    asked: dict[str, Any] = {key: value for key, value in chosen.items() if key != "risk"}
    made = client.get("policy", "asked", ask_id, decision=decision, **asked)
    print_notice(f"    {escape_line(made['words'])}")
    for axis in made["axes"]:
        offered = ", ".join(one["choice"] for one in axis["options"])
        print_notice(f"    {axis['name']:10} {made['choice'][axis['name']]} (of {offered})")
    trial = made["trial"]
    fitting = [one for one in trial["lines"] if one["fits"] == "yes" and one["would"] == decision]
    said = "allowed" if decision == "allow" else "denied"
    print_notice(f"    It would have {said} {len(fitting)} of the last {trial['judged']} calls that were asked about.")
    for one in fitting[:_TOLD]:
        print_notice(f"        {escape_line(one['tool'])} {escape_line(one['words'])}")
    if decision == "allow" and made["risk"] == "high" and chosen.get("risk") != "high":
        print_notice(f"    High risk: {escape_line(made['why'])} To remember it all the same, add --rule risk=high.")
