"""`greenroom profile`: list, check, change, import and export the kinds of agents."""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

from greenroom.cli.client import HubClient, open_client
from greenroom.cli.terminal import escape_line, explain_error, print_notice, show_json, show_table
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.rules.agents.verbs import PROFILE_VERBS
from greenroom.validation import get_nearest


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "profile", "list, check, change, import and export profiles")
    add = group.add
    add("list", run_list, "list all profiles", "list --json")
    show = add("show", run_show, "show a profile with all its keys", "show claude")
    show.add_argument("name", metavar="NAME")
    check = add("check", run_check, "check whether profiles can start an agent, without starting one", "check claude")
    check.add_argument("name", metavar="NAME", nargs="?")
    put = add("put", run_put, "create or replace a profile from a TOML or JSON file", "put reviewer reviewer.toml")
    put.add_argument("name", metavar="NAME")
    put.add_argument("file", metavar="FILE")
    add_verbs(group.actions, PROFILE_VERBS)
    bring = add("import", run_import, "import all profiles of a bundle, or none", "import team.toml")
    bring.add_argument("file", metavar="FILE")
    export = add("export", run_export, "write profiles into one file, .json or .toml", "export team.toml reviewer")
    export.add_argument("file", metavar="FILE")
    export.add_argument(
        "names", metavar="NAME", nargs="*", help="the profiles (default: all except those that ship with Greenroom)"
    )


def run_list(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = client.get("profiles")
    if args.json:
        show_json(found)
    else:
        rows = [(p["name"], p["driver"], _describe_state(p), p["source"], p["display_name"]) for p in found]
        show_table(rows, ("name", "driver", "is", "from", "called"))
    tell_wrong_files(client.get("profile-files"), {p["name"] for p in found})
    return 0


def tell_wrong_files(wrong_files: list[dict[str, Any]], known: set[str]) -> None:
    """Print what is wrong with files of profiles, and which earlier versions stay in use."""
    for wrong in wrong_files:
        whose = f" ({wrong['name']})" if wrong["name"] else ""
        instead = " — the last good version is used" if wrong["name"] in known else ""
        print_notice(f"✗ {escape_line(wrong['file'])}{escape_line(whose)}: {escape_line(wrong['problem'])}{instead}")


def _describe_state(profile: dict[str, Any]) -> str:
    if not profile["enabled"]:
        return "off"
    return "invitable" if profile["is_invitable"] else "not found"


def run_show(args: argparse.Namespace) -> int:
    found = open_client(args).get("profiles", args.name)
    if args.json:
        show_json(found)
    else:
        print(_format_bundle({found["name"]: found["definition"]}), end="")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Exit code 1 when a file is wrong, or a profile that was asked for would not start."""
    found = open_client(args).get("profile-check", name=args.name)
    bad = bool(found["wrong_files"]) or (args.name is not None and not all(p["ok"] for p in found["profiles"]))
    if args.json:
        show_json(found)
        return int(bad)
    tell_wrong_files(found["wrong_files"], {p["name"] for p in found["profiles"]})
    for profile in found["profiles"]:
        _show_health(profile)
    able = sum(profile["ok"] for profile in found["profiles"])
    print(f"Checked {_format_count(len(found['profiles']), 'profile')} without starting an agent: {able} can start.")
    if able < len(found["profiles"]):
        print("To use another one, fix what is named below it, then check again.")
    return int(bad)


def _show_health(profile: dict[str, Any]) -> None:
    """A profile on one line: whether and where it can start; below that, what prevents it."""
    nodes = profile["nodes"]
    places = [f"{n['node']} ({n['version']})" if n["version"] else n["node"] for n in nodes if not n["problems"]]
    name = escape_line(profile["name"])
    print(f"✓ {name} can start on {escape_line(', '.join(places))}" if profile["ok"] else f"✗ {name} cannot start")
    for problem in profile["problems"]:
        print(f"    {escape_line(problem)}")
    for node, problem in ((n["node"], problem) for n in nodes for problem in n["problems"]):
        print(f"    on {escape_line(node)}: {escape_line(problem)}")


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def run_put(args: argparse.Namespace) -> int:
    fields = _read_bundle(args.file)
    bundle = fields.get("profiles")
    return _import_profiles(args, {args.name: bundle.get(args.name, fields) if isinstance(bundle, dict) else fields})


def run_import(args: argparse.Namespace) -> int:
    profiles = _read_bundle(args.file).get("profiles")
    if not isinstance(profiles, dict):
        raise Refused.in_words("bad_profile", f"{args.file} is no bundle: write the profiles by name under 'profiles'.")
    return _import_profiles(args, profiles)


def _import_profiles(args: argparse.Namespace, profiles: dict[str, Any]) -> int:
    client = open_client(args)
    names = client.post("profiles", body={"profiles": profiles})["names"]
    show_json({"names": names}) if args.json else print(f"Taken: {escape_line(', '.join(names))}")
    _suggest_drivers(client, set(names))
    return 0


def _suggest_drivers(client: HubClient, names: set[str]) -> None:
    """A driver may come with a node that joins later, so one that no node has is taken. It may also be misspelt."""
    known = {driver for node in client.get("nodes") for driver in node.get("drivers", ())}
    profiles = client.get("profiles")
    known |= {profile["driver"] for profile in profiles if profile["source"] == "builtin"}
    for profile in profiles:
        driver = profile["driver"]
        if profile["name"] in names and driver not in known and (near := get_nearest(driver, known)):
            whose, what = escape_line(profile["name"]), escape_line(driver)
            print_notice(f"{whose}: no node has the driver '{what}': did you mean '{near}'?")


def run_export(args: argparse.Namespace) -> int:
    client = open_client(args)
    names = args.names or [p["name"] for p in client.get("profiles") if p["source"] != "builtin"]
    profiles = {name: client.get("profiles", name)["definition"] for name in names}
    path = Path(args.file)
    if path.suffix == ".json":
        text = json.dumps({"profiles": profiles}, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _format_bundle(profiles)
    try:
        path.write_text(text)
    except OSError as error:
        raise Refused.in_words("cannot_write", f"{path} cannot be written ({error.strerror}).") from error
    show_json({"file": str(path), "names": names}) if args.json else print(f"{len(names)} profiles are in {path}.")
    return 0


def _read_bundle(name: str) -> dict[str, Any]:
    path = Path(name)
    try:
        text = path.read_text()
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise Refused.in_words("bad_profile", f"{path} cannot be read: {explain_error(error)}") from error
    if not isinstance(found, dict):
        raise Refused.in_words("bad_profile", f"{path} holds no profile: write its keys, such as driver.")
    return found


def _format_bundle(profiles: dict[str, dict[str, Any]]) -> str:
    """A bundle as TOML."""
    blocks = []
    for name, definition in profiles.items():
        lines = [f"{key} = {_format_toml_value(value)}" for key, value in definition.items() if value is not None]
        blocks.append("\n".join([f"[profiles.{json.dumps(name)}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _format_toml_value(value: Any) -> str:
    match value:
        case dict():
            inner = ", ".join(
                f"{_format_toml_value(str(key))} = {_format_toml_value(one)}"
                for key, one in value.items()
                if one is not None
            )
            return f"{{ {inner} }}" if inner else "{}"
        case list():
            return f"[{', '.join(_format_toml_value(one) for one in value)}]"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(value)
