"""`greenroom completion`: completion scripts for shells, generated from the parsers.

Each script has the same four tables, as functions: the verbs of a command, its options, what follows an option, and
what an argument is. What follows is `words a b`, `file`, `from KIND` (asked of the hub when it is needed) or nothing.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from greenroom.cli.client import HubClient, HubUnreachable, add_options, open_client
from greenroom.cli.completion_scripts import GLUE
from greenroom.cli.terminal import shorten_id, show_json
from greenroom.errors import Refused, Unavailable

_FILES = ("FILE", "DIR", "DATA", "TOKEN_FILE")
_NAMED = {"PROFILE": "profile", "WORKFLOW": "workflow", "THREAD": "thr", "NODE": "node"}
_MANY = 9
"""As many arguments are completed where a command takes any number of them."""
_NEWEST = 30


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "completion",
        help="print a completion script for your shell",
        description="Print a script with which bash, zsh or fish completes commands, options, profiles and ids."
        ' Load it in ~/.bashrc or ~/.zshrc with eval "$(greenroom completion bash)" (or zsh), and in'
        " ~/.config/fish/config.fish with: greenroom completion fish | source",
        epilog="example: greenroom completion bash",
    )
    add_options(parser)
    parser.add_argument("shell", metavar="SHELL", choices=tuple(GLUE), nargs="?", help=f"one of {', '.join(GLUE)}")
    parser.add_argument("--values", metavar="KIND", choices=tuple(VALUES), help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.values is not None:
        return _print_values(args)
    if args.shell is None:
        raise Refused.in_words("no_shell", f"Say for which shell: {', '.join(GLUE)}.")
    from greenroom.cli.main import build_parser

    text = write_script(args.shell, build_parser())
    show_json({"shell": args.shell, "script": text}) if args.json else print(text, end="")
    return 0


def _print_values(args: argparse.Namespace) -> int:
    """What the hub has of a kind. A shell that completes has no use for complaints."""
    try:
        client = open_client(args)
        for value in VALUES[args.values](client):
            print(value)
    except (HubUnreachable, Refused, Unavailable):
        return 1
    return 0


def _build_id_finder(*path: str, **query: Any) -> Callable[[HubClient], list[str]]:
    def find(client: HubClient) -> list[str]:
        found = client.get(*path, **query)
        found = found if isinstance(found, list) else found[path[0]]
        return [shorten_id(one["id"]) for one in found]

    return find


def _build_name_finder(*path: str) -> Callable[[HubClient], list[str]]:
    return lambda client: [one["name"] for one in client.get(*path)]


VALUES: dict[str, Callable[[HubClient], list[str]]] = {
    "profile": _build_name_finder("profiles"),
    "workflow": _build_name_finder("workflows"),
    "node": _build_name_finder("nodes"),
    "run": _build_id_finder("runs", limit=_NEWEST),
    "ask": _build_id_finder("asks", limit=_NEWEST),
    "agt": _build_id_finder("agents"),
    "thr": _build_id_finder("threads", limit=_NEWEST),
    "wfr": _build_id_finder("workflow-runs", limit=_NEWEST),
    "cred": _build_id_finder("credentials"),
}
"""The request to the hub for each kind of value."""


def write_script(shell: str, top: argparse.ArgumentParser) -> str:
    """The whole script for a shell."""
    tables: dict[str, dict[str, str]] = {"verbs": {}, "options": {}, "option": {}, "argument": {}}
    follows: dict[str, dict[str, str]] = {}
    for path, parser in _walk_commands(top):
        inner = _get_subparsers(parser)
        if inner is not None:
            tables["verbs"][path] = " ".join(inner.choices)
        named = [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
        tables["options"][path] = " ".join(name for action in named for name in action.option_strings)
        for action in named:
            for name in action.option_strings:
                if action.nargs != 0:
                    follows.setdefault(name, {})[path] = _describe_value(action)
        for place, kind in enumerate(_find_arguments(parser)):
            tables["argument"][f"{path} {place}"] = kind
    for name, by_path in follows.items():
        tables["option"] |= {f"{path} {name}": kind for path, kind in by_path.items()}
    return GLUE[shell].write(
        {name: {key: text for key, text in table.items() if text} for name, table in tables.items()}
    )


def _walk_commands(of: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield path, of
    inner = _get_subparsers(of)
    for name, chosen in inner.choices.items() if inner is not None else ():
        yield from _walk_commands(chosen, f"{path} {name}".strip())


def _get_subparsers(parser: argparse.ArgumentParser) -> Any:
    return next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)


def _find_arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.option_strings or isinstance(action, argparse._SubParsersAction):
            continue
        times = _MANY if action.nargs in ("*", "+") else 1
        yield from [_describe_value(action)] * times


def _describe_value(action: argparse.Action) -> str:
    """What may stand where an option or an argument takes a value."""
    name = str(action.metavar or action.dest).upper()
    if action.choices:
        return f"words {' '.join(map(str, action.choices))}"
    if kinds := [kind for kind in getattr(action.type, "kinds", ()) if kind in VALUES]:
        return f"from {kinds[0]}"
    if action.dest in ("thread", "node", "profile"):
        return f"from {_NAMED[action.dest.upper()]}"
    if name in _NAMED:
        return f"from {_NAMED[name]}"
    return "file" if name in _FILES else "text"
