"""CLI verbs built from the tables of verbs: one request, and a line that says what was done."""

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec

from greenroom.cli.client import add_options, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, show_json
from greenroom.rules.verb import CliVerb, Verb, build_input_type


def add_verbs(group: Any, verbs: Iterable[Verb]) -> None:
    """Those of the verbs that can be typed, as parsers of a group."""
    for verb in verbs:
        if verb.cli is not None:
            _add_verb(group, verb, verb.cli)


def _add_verb(group: Any, verb: Verb, cli: CliVerb) -> None:
    parser = group.add_parser(
        cli.words.rpartition(" ")[2],
        help=verb.says[0].lower() + verb.says[1:],
        description=f"{verb.says}. {cli.says}" if cli.says else None,
        epilog=f"example: greenroom {cli.words} {cli.example}",
    )
    add_options(parser)
    parser.add_argument("id", metavar=cli.metavar, type=build_id_type(cli.kind) if cli.kind else None, help=cli.about)
    schema = msgspec.json.schema(build_input_type(verb, "Options", verb.takes, is_strict=False))
    for name, field in next(iter(schema["$defs"].values()))["properties"].items():
        about = field.get("description")
        if "default" not in field:
            parser.add_argument(name, metavar=name.upper(), nargs="+" if field["type"] == "array" else None, help=about)
        elif field["type"] == "boolean":
            parser.add_argument(f"--{name}", action="store_true", help=about)
        else:
            parser.add_argument(f"--{name}", help=about)
    parser.set_defaults(run=partial(_run_verb, verb, cli))


def _run_verb(verb: Verb, cli: CliVerb, args: argparse.Namespace) -> int:
    client = open_client(args)
    typed = {name: given for name in verb.takes if (given := getattr(args, name)) not in (None, False)}
    path = tuple(args.id if part.startswith("{") else part for part in verb.path.split("/")[2:])
    if verb.method == "DELETE":
        answer = client.delete(*path, **{name: "true" if given is True else given for name, given in typed.items()})
    else:
        answer = client.post(*path, body=typed)
    if args.json:
        show_json(answer or {cli.gone: args.id})
        return 0
    shown = {name: ", ".join(given) if isinstance(given, list) else given for name, given in typed.items()}
    print(escape_line(cli.done.format_map({**(answer or {}), **shown, "id": args.id})))
    return 0
