"""CLI verbs built from the tables of verbs: one request, and a line that says what was done."""

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from greenroom.cli.arg_parser import parse_amount, parse_count, parse_value
from greenroom.cli.client import HubClient, add_options, open_client
from greenroom.cli.ids import build_id_type
from greenroom.cli.terminal import escape_line, print_notice, show_json
from greenroom.rules.verb import CliOption, CliVerb, Verb, build_input_type

Json = dict[str, Any]


def add_verbs(group: Any, verbs: Iterable[Verb], summarize: Callable[[Json], Json] = dict) -> None:
    """Those of the verbs that can be typed, as parsers of a group. `summarize` is what `--json` shows of an answer."""
    for verb in verbs:
        if verb.cli is not None:
            _add_verb(group, verb, verb.cli, summarize)


def _add_verb(group: Any, verb: Verb, cli: CliVerb, summarize: Callable[[Json], Json]) -> None:
    parser = group.add_parser(
        cli.words.rpartition(" ")[2],
        help=verb.says[0].lower() + verb.says[1:],
        description=f"{verb.says}. {cli.says}" if cli.says else None,
        epilog=f"example: greenroom {cli.words} {cli.example}",
    )
    add_options(parser)
    id_type = build_id_type(cli.kind) if cli.kind else None
    nargs = "+" if cli.takes_many else None
    parser.add_argument("id", metavar=cli.metavar, nargs=nargs, type=id_type, help=cli.about)
    fields = verb.takes if cli.takes is None else cli.takes
    schema = msgspec.json.schema(build_input_type(verb, "Options", fields, is_strict=False))
    for name, field in next(iter(schema["$defs"].values()))["properties"].items():
        if "default" not in field and name not in cli.options:
            nargs = "+" if field["type"] == "array" else None
            parser.add_argument(name, metavar=name.upper(), nargs=nargs, help=field.get("description"))
        else:
            _add_option(parser, name, field, cli.options.get(name, CliOption(name)))
    parser.set_defaults(run=partial(_run_verb, verb, cli, fields, summarize))


def _add_option(parser: argparse.ArgumentParser, name: str, field: Json, option: CliOption) -> None:
    about = option.says or field.get("description")
    if field.get("type") == "boolean":
        how = parser.add_mutually_exclusive_group()
        how.add_argument(f"--{option.name}", dest=name, action="store_true", default=None, help=about)
        if option.opposite:
            word, says = option.opposite
            how.add_argument(f"--{word}", dest=name, action="store_false", default=None, help=says)
        return
    metavar, required = option.metavar or option.name.upper(), "default" not in field
    parser.add_argument(
        f"--{option.name}", dest=name, metavar=metavar, required=required, type=_get_parser(field), help=about
    )


def _get_parser(field: Json) -> Callable[[str], Any]:
    """What reads the words of an option, by the type of its field."""
    types = {one.get("type") for one in field.get("anyOf", [field])}
    if "integer" in types:
        return parse_count
    if "number" in types:
        return parse_amount
    return str if "string" in types else parse_value


def _run_verb(
    verb: Verb, cli: CliVerb, fields: tuple[str, ...], summarize: Callable[[Json], Json], args: argparse.Namespace
) -> int:
    client = open_client(args)
    typed = {name: given for name in fields if (given := getattr(args, name)) is not None}
    ids = args.id if cli.takes_many else [args.id]
    answers = [_send(client, verb, one, typed) for one in ids]
    if args.json:
        gone = {"ok": True} if cli.gone is None else {cli.gone: args.id}
        found = [summarize(answer or gone) for answer in answers]
        show_json(found if cli.takes_many else found[0])
        return 0
    shown = {name: ", ".join(given) if isinstance(given, list) else given for name, given in typed.items()}
    line = cli.done if cli.undone is None or any(shown.values()) else cli.undone
    show = print_notice if cli.takes_many else print
    for one, answer in zip(ids, answers, strict=True):
        show(escape_line(line.format_map({**(answer or {}), **shown, "id": one, "answer": answer})))
    return 0


def _send(client: HubClient, verb: Verb, named: str, typed: Json) -> Json | None:
    path = tuple(named if part.startswith("{") else part for part in verb.path.split("/")[2:])
    if verb.method == "DELETE":
        answer: Json | None = client.delete(*path, **{k: "true" if v is True else v for k, v in typed.items()})
    else:
        answer = client.post(*path, body=typed)
    return answer
