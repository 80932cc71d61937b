"""Writes the tables of the reference into docs/users from the source; a test sees that they are up to date.

Run it as `.venv/bin/python docs/write_reference.py`. Whatever stands between `<!-- table: NAME -->` and `<!-- end -->`
in a document is replaced.
"""

import argparse
import ast
import asyncio
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from greenroom import settings
from greenroom.app import open_hub
from greenroom.cli.main import build_parser
from greenroom.doors import router
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.login import LoginCodes
from greenroom.rules.workflows import definition
from greenroom.rules.workflows.schema import build_schema, read_key_descriptions
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.runtimes.driver_options import AcpOptions, DriverOptions
from greenroom.sentences import CATALOGUE, PLACE
from greenroom.services.connections import Connections

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "greenroom"
USERS = ROOT / "docs" / "users"
_MARKED = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
_ERRORS = {"Refused": 0, "Unavailable": 0, "build_bad_request": 0, "GuardRefused": 1, "CredentialRefused": 1}
"""What makes an error, and which of its arguments is the key of its sentence, which begins with the code."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def settings_table() -> str:
    """Every setting with its default and the sentence that stands below it in settings.py."""
    tree = ast.parse((SOURCE / "settings.py").read_text())
    (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings"]
    said = {}
    for field, below in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            said[ast.unparse(field.target)] = ast.literal_eval(below.value)
    default = settings.Settings()
    rows = [
        [f"`{name}`", f"`GREENROOM_{name.upper()}`", _shown(getattr(default, name)), said[name]]
        for name in settings.Settings.__struct_fields__
    ]
    return table(("setting", "in the environment", "default", "what it does"), rows)


def _shown(value: Any) -> str:
    return "—" if value in (None, []) else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def commands_table() -> str:
    return table(("command", "what it does"), [[f"`greenroom {c}`", says] for c, says in commands(build_parser())])


def commands(of: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, str]]:
    """Every command with its one line of help."""
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            help_of = {choice.dest: str(choice.help) for choice in action._choices_actions}
            for name, inner in action.choices.items():
                if name not in help_of:
                    continue  # another word for a command that is in the list
                deeper = list(commands(inner, f"{path}{name} "))
                if not deeper or not _needs_action(inner):
                    yield f"{path}{name}", help_of[name]
                yield from deeper


def _needs_action(of: argparse.ArgumentParser) -> bool:
    """Whether a command is only the head of others."""
    return any(isinstance(action, argparse._SubParsersAction) and action.required for action in of._actions)


def routes_table() -> str:
    rows = [[f"`{e.method} {e.path}`", e.needs, e.summary] for e in asyncio.run(endpoints())]
    return table(("route", "needs the right", "what it does"), rows)


async def endpoints() -> list[Endpoint]:
    """What every HTTP door declares."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_hub(Path(folder), settings.Settings(local_node=False)) as hub,
            router.build_app(hub, LoginCodes(), Connections(hub, "")) as (_, declared),
        ):
            return list(declared)


def errors_table() -> str:
    rows = [[f"`{code}`", says] for code, says in sorted(errors().items())]
    return table(("code", "what it says"), rows)


def errors() -> dict[str, str]:
    """Every code of a refusal that the source names, with its sentence."""
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in _ERRORS:
                    for key in _find_texts(node.args[_ERRORS[name]]):
                        found.setdefault(key.partition(".")[0], _word(key))
                case ast.Call(func=ast.Name(id="HttpRefused"), args=[_, ast.Constant(value=str(code)), detail, *_]):
                    found.setdefault(code, next(map(_word, _find_texts(detail)), ""))
                case ast.Call(func=ast.Attribute(attr="in_words"), args=[ast.Constant(value=str(code)), words, *_]):
                    found.setdefault(code, _sentence(words))
    return found


def _word(key: str) -> str:
    return PLACE.sub("…", CATALOGUE[key])


def _find_texts(node: ast.expr) -> Iterator[str]:
    """The constants in what may be a choice of several."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value in CATALOGUE:
            yield one.value


def _sentence(node: ast.expr) -> str:
    """A constant as it is; of an f-string, its values as an ellipsis."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values]
        return "".join(parts)
    return ""


def workflow_table() -> str:
    """Every key of a workflow file, part by part: what it is, and what stands below it in the definition."""
    schemas = msgspec.json.schema(definition.WorkflowDefinition)["$defs"]
    parts = []
    for name in sorted(schemas, key=["WorkflowDefinition", "Step"].__contains__, reverse=True):
        said = read_key_descriptions()[name]
        rows = []
        for field in msgspec.structs.fields(getattr(definition, name)):
            schema = schemas[name]["properties"][field.encode_name]
            default = schema.get("default")
            shown = "" if default in (None, "", [], {}) or isinstance(default, dict) else f"`{json.dumps(default)}`"
            rows.append((f"`{field.encode_name}`", _form(schema), shown, said.get(field.name, "")))
        heads = ("key", "is", "default", "what it says")
        parts.append(f"### {name}\n\n{said['']}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _form(schema: dict[str, Any]) -> str:
    """What a value of a schema is, in a few words."""
    words = {
        "string": "text",
        "array": "list",
        "object": "mapping",
        "boolean": "true or false",
        "integer": "whole number",
    }
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_form(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if schema.get("type") == "array" and schema.get("items"):
        return f"list of {_form(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"mapping of {_form(schema['additionalProperties'])}"
    return words.get(schema.get("type", ""), schema.get("type", "any value"))


def options_table() -> str:
    """What a profile can say in `options`: drivers with options of their own, then all others in one row."""
    own = {name: driver.options for name, driver in DRIVER_INFOS.items() if driver.options is not AcpOptions}
    rows = [[f"`{name}`", _list_options(options)] for name, options in own.items()]
    return table(("driver", "options"), [*rows, ["every other agent", _list_options(AcpOptions)]])


def _list_options(options: type[DriverOptions]) -> str:
    schema = msgspec.json.schema(options)["$defs"][options.__name__]["properties"]
    forms = {name: "mapping" if "$ref" in schema[name] else _form(schema[name]) for name in options.__struct_fields__}
    return ", ".join(f"`{name}` ({form})" for name, form in forms.items())


TABLES: dict[str, Callable[[], str]] = {
    "workflow": workflow_table,
    "settings": settings_table,
    "options": options_table,
    "commands": commands_table,
    "routes": routes_table,
    "errors": errors_table,
}


def renewed(text: str) -> str:
    """A document with its tables made anew."""
    return _MARKED.sub(lambda m: f"<!-- table: {m[1]} -->\n\n{TABLES[m[1]]()}\n\n<!-- end -->", text)


def main() -> None:
    for path in sorted(USERS.glob("*.md")):
        text = path.read_text()
        new = renewed(text)
        if new != text:
            path.write_text(new)
            print(f"renewed {path.relative_to(ROOT)}")
    (USERS / "workflow.schema.json").write_text(json.dumps(build_schema(), indent=1, ensure_ascii=False) + "\n")
    subprocess.run([sys.executable, ROOT / "web" / "write_types.py"], check=True)


if __name__ == "__main__":
    main()
