"""The parser of every verb: argparse that lists verbs when one is missing, and suggests the one that was meant."""

import argparse
import difflib
import json
import math
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

_MISSING = re.compile(r"required: (VERB|ACTION)$")
_UNKNOWN = re.compile(r"argument (.*): invalid choice: '(.*)' \(choose from (.*)\)$", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Wrong use is explained on stderr, and ends with 2."""

    def error(self, message: str) -> NoReturn:
        if _MISSING.search(message):
            self.print_help(sys.stderr)
            self.exit(2)
        if unknown := _UNKNOWN.match(message):
            word, known = unknown[2], re.findall(r"[\w-]+", unknown[3])
            near = difflib.get_close_matches(word, known, 1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            place = "" if unknown[1] in ("VERB", "ACTION") else f"argument {unknown[1]}: "
            message = f"{place}there is no {word!r}: {meant}"
        super().error(message)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        """The verb that does not know an argument reports it, and not every parser above it."""
        found, rest = super().parse_known_args(args, namespace)
        if rest and self._subparsers is None:
            options = [name[2:] for name in self._option_string_actions if name.startswith("--")]
            near = difflib.get_close_matches(rest[0].partition("=")[0].lstrip("-"), options, 1)
            meant = f"did you mean --{near[0]}?" if near else f"see `{self.prog} --help`."
            self.error(f"{' '.join(rest)!r} is not understood: {meant}")
        return found, rest


def parse_count(text: str) -> int:
    """An option's value: how many."""
    return _parse_whole_number(text, 1)


def add_limit_option(parser: argparse.ArgumentParser, default: int | None = 50) -> None:
    """How many a list shows at most."""
    says = f"at most N (default: {default or 'all'})"
    parser.add_argument("--limit", type=parse_count, default=default, metavar="N", help=says)


def parse_seq(text: str) -> int:
    """An option's value: a place in the log."""
    return _parse_whole_number(text, 0)


def _parse_whole_number(text: str, least: int) -> int:
    if text.isascii() and text.isdigit() and int(text) >= least:
        return int(text)
    raise argparse.ArgumentTypeError(f"write a whole number from {least} on")


def parse_amount(text: str) -> float:
    """An option's value: how much."""
    found = parse_seconds(text)
    if found == 0:
        raise argparse.ArgumentTypeError("write a number above 0")
    return found


def parse_value(text: str) -> Any:
    """A value of any type: JSON, otherwise text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_seconds(text: str) -> float:
    """An option's value: how long."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError("write a number from 0 on")
    return found
