"""`greenroom dag validate` and `dag graph`: check and draw workflow files, with or without a hub."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom.cli.client import HubClient, HubUnreachable, open_client
from greenroom.cli.ids import need_id
from greenroom.cli.terminal import count_things, escape_line, print_notice, show_json
from greenroom.cli.verb_group import Add
from greenroom.errors import Refused, Unavailable

if TYPE_CHECKING:
    from greenroom.rules.workflows.checks.problems import Problem
    from greenroom.rules.workflows.definition import WorkflowDefinition
    from greenroom.rules.workflows.diagram.labels import States
    from greenroom.rules.workflows.parser.loader import LoadedWorkflow

_LOOK_S = 90.0


def add_file_verbs(add: Add) -> None:
    """The verbs of `greenroom dag` that need files only."""
    validate = add("validate", run_validate, "check workflow files without running them", "validate release.yaml")
    validate.add_argument("files", metavar="FILE", nargs="+")
    validate.add_argument("--offline", action="store_true", help="do not use a hub; profiles are not checked")
    graph = add("graph", run_graph, "draw a workflow or a run", "graph release.yaml --format svg --output r.svg")
    graph.add_argument("file", metavar="FILE", help="a file, a stored workflow, or a run (wfr_...)")
    graph.add_argument("--format", choices=("mermaid", "dot", "svg"), default="mermaid", help="(default: mermaid)")
    graph.add_argument("--output", metavar="FILE", help="write to this file instead of printing")


def run_validate(args: argparse.Namespace) -> int:
    """Exit code 1 when a file is wrong; each problem is one line with file, line, step and remedy."""
    client = None if args.offline else _get_client(args)
    drivers = None if client is None else find_drivers(client)
    results = [_check_file(args, Path(name), drivers, client) for name in args.files]
    if args.json:
        show_json(
            {"ok": all(result["ok"] for result in results), "profiles_checked": drivers is not None, "files": results}
        )
        return int(not all(result["ok"] for result in results))
    for result in results:
        if result["ok"]:
            told = f"{result['name']}, {count_things(result['steps'], 'step')}"
            print(f"✓ {escape_line(result['file'])}: {escape_line(told)}")
        for problem in result["problems"]:
            print(f"✗ {escape_line(problem['text'])}")
        for problem in result.get("warnings", ()):
            print(f"! {escape_line(problem['text'])}")
    if drivers is None and not args.offline:
        print_notice("Profiles were not checked, because no hub answers.")
    return int(not all(result["ok"] for result in results))


def _check_file(
    args: argparse.Namespace, file: Path, drivers: dict[str, str] | None, client: HubClient | None
) -> dict[str, Any]:
    from greenroom import settings
    from greenroom.rules.workflows.checks.problems import BadWorkflow
    from greenroom.services.workflow_files import build_known, load_file

    def directory_of(profile: str) -> str | None:
        if client is None or drivers is None or profile not in drivers:
            return None
        directory: str | None = client.get("profiles", profile)["definition"].get("directory")
        return directory

    try:
        loaded = load_file(file, settings.resolve_data_dir(args.data), build_known(drivers), directory_of=directory_of)
    except BadWorkflow as bad:
        return {"file": str(file), "ok": False, "problems": [_describe_problem(problem) for problem in bad.problems]}
    except Refused as error:
        told = {"code": error.code, "text": error.message, "file": str(file)}
        return {"file": str(file), "ok": False, "problems": [told]}
    wrong = _find_unknown_models(client, drivers, loaded, str(file)) if client and drivers else []
    if wrong:
        return {"file": str(file), "ok": False, "problems": [_describe_problem(problem) for problem in wrong]}
    return {
        "file": str(file),
        "ok": True,
        "name": loaded.definition.name,
        "steps": len(loaded.definition.steps),
        "problems": [],
        "warnings": [_describe_problem(problem) for problem in loaded.warnings],
    }


def _find_unknown_models(
    client: HubClient, drivers: dict[str, str], loaded: "LoadedWorkflow", file: str
) -> "list[Problem]":
    """The models that steps name and no node's runtime knows."""
    import msgspec

    from greenroom.sentences import Sentence
    from greenroom.services.workflow_models import explain_model, find_named_models, find_problems

    named = list(find_named_models(loaded.definition, drivers))
    wrong = {}
    for profile, model in {one.named for one in named}:
        found = client.get("profile-check", name=profile, model=model, timeout_s=_LOOK_S)["profiles"][0]
        told = [msgspec.convert(node.get("sentences", []), list[Sentence]) for node in found["nodes"]]
        if said := explain_model(told):
            wrong[profile, model] = said
    return find_problems(loaded, file, named, wrong)


def _describe_problem(problem: "Problem") -> dict[str, Any]:
    keys = ("code", "file", "line", "column", "step", "message", "remedy", "text")
    from greenroom.sentences.english import render_english

    told = render_english(problem)
    return {key: getattr(told, key) for key in keys}


def _get_client(args: argparse.Namespace) -> HubClient | None:
    """The hub, if one answers and lets us look at its profiles."""
    try:
        client = open_client(args)
        find_drivers(client)
        return client
    except (HubUnreachable, Refused, Unavailable):
        return None


def find_drivers(client: HubClient) -> dict[str, str]:
    """The driver of each of the hub's profiles."""
    return {profile["name"]: profile["driver"] for profile in client.get("profiles")}


def run_graph(args: argparse.Namespace) -> int:
    from greenroom.rules.workflows.checks.problems import BadWorkflow
    from greenroom.rules.workflows.diagram import FORMATS

    try:
        definition, states = _load_graph(args)
    except BadWorkflow as bad:
        for problem in bad.problems:
            print_notice(f"✗ {escape_line(problem.text)}")
        return 1
    picture = FORMATS[args.format](definition, states)
    if args.output:
        try:
            Path(args.output).write_text(picture)
        except OSError as error:
            raise Refused.in_words("cannot_write", f"{args.output} cannot be written ({error.strerror}).") from error
    if args.json:
        show_json({"format": args.format, "graph": picture, "output": args.output})
    elif args.output:
        print_notice(f"Written to {escape_line(args.output)}.")
    else:
        print(picture, end="")
    return 0


def _load_graph(args: argparse.Namespace) -> "tuple[WorkflowDefinition, States]":
    """What to draw, with the statuses of the steps if it is a run."""
    import msgspec

    from greenroom import settings
    from greenroom.rules.workflows.definition import WorkflowDefinition
    from greenroom.services.workflow_files import load_file

    if Path(args.file).suffix in (".yaml", ".yml", ".json") or Path(args.file).exists():
        return load_file(Path(args.file), settings.resolve_data_dir(args.data), need_skills=False).definition, {}
    client = open_client(args)
    if args.file.startswith("wfr_"):
        shown = client.get("workflow-runs", need_id(client, args.file, "wfr"))
        states = {step["id"]: step.get("status", "pending") for step in shown["steps"]}
        return msgspec.convert(shown["definition"], WorkflowDefinition), states
    return msgspec.convert(client.get("workflows", args.file)["definition"], WorkflowDefinition), {}
