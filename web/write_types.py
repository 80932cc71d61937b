"""Writes the page's types and calls from the Python source: rows of the sync socket, what REST takes and gives, verbs.

Run it as `.venv/bin/python web/write_types.py`; a test sees that the files are up to date.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from greenroom.app import open_hub
from greenroom.doors import router
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.login import LoginCodes
from greenroom.doors.rest.openapi import describe_api
from greenroom.link.ask_kinds import ASK_KINDS, AskKindInfo
from greenroom.rules.registry import NOUNS, VERBS
from greenroom.rules.runs.model import LIVE
from greenroom.rules.verb import Verb
from greenroom.services.connections import Connections
from greenroom.settings import Settings

API = Path(__file__).parent / "src" / "api"
_REF = "#/components/schemas/{name}"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_WIDTH = 140
_HEAD = "// Written by web/write_types.py from the Python source: change it there.\n\n"


def written() -> dict[Path, str]:
    """Every file that this writes, with its text."""
    endpoints = asyncio.run(_endpoints())
    return {API / "rows.ts": rows(), API / "types.ts": rest(endpoints), API / "verbs.ts": verbs(endpoints)}


def rows() -> str:
    """The rows by table. Fields that have their default are left out by the hub, so they may be missing."""
    tables = sorted((table for noun in NOUNS for table in noun.tables), key=lambda table: table.name)
    shapes, components = msgspec.json.schema_components(
        [*(table.row for table in tables), AskKindInfo], ref_template=_REF
    )
    lines = [f"  {json.dumps(t.name)}: {_type(shape)}" for t, shape in zip(tables, shapes, strict=False)]
    active = f"\nexport const ACTIVE_RUN_STATUSES: readonly string[] = {json.dumps(list(LIVE))}\n"
    known = json.dumps(msgspec.to_builtins(ASK_KINDS), ensure_ascii=False, indent=2)
    kinds = f"\nexport const ASK_KINDS: Record<Ask['kind'], AskKindInfo> = {known}\n"
    return (
        _HEAD + _interfaces(components) + "\nexport interface Tables {\n" + "\n".join(lines) + "\n}\n" + active + kinds
    )


def rest(endpoints: list[Endpoint]) -> str:
    """What REST takes and gives."""
    document = describe_api(endpoints)
    return _HEAD + _interfaces(document["components"]["schemas"])


def verbs(endpoints: list[Endpoint]) -> str:
    """A typed call for each verb that the page sends with what is in the path and the body."""
    declared = {(one.method, one.path): one for one in endpoints}
    calls, names = [], set()
    for verb in sorted(VERBS, key=lambda verb: verb.command.__name__):
        endpoint = declared[verb.method, verb.path]
        answer = endpoint.answer.__name__ if endpoint.answer else "void"
        given = f", body: {endpoint.body.__name__}" if endpoint.body else ""
        names |= {answer, endpoint.body.__name__ if endpoint.body else "void"}
        path = re.sub(r"{\w+}", "${encodeURIComponent(id)}", verb.path)
        sent = ", body" if endpoint.body else ", {}" if verb.method == "POST" else ""
        calls.append(
            f"/** {verb.says}. */\nexport const {_call_name(verb)} = (id: string{given}): Promise<{answer}> =>\n"
            f"  call('{verb.method}', `{path}`{sent})\n"
        )
    imported = "".join(f"  {name},\n" for name in sorted(names - {"void"}))
    return f"{_HEAD}import type {{\n{imported}}} from './types'\nimport {{ call }} from './http'\n\n" + "\n".join(calls)


def _call_name(verb: Verb) -> str:
    """The command's name; of a command with two verbs, the verb and the noun."""
    name = verb.command.__name__
    if verb.sets and verb.method == "POST":
        name = verb.path.rpartition("/")[2].title() + re.findall("[A-Z][a-z]+", name)[-1]
    return name[0].lower() + name[1:]


async def _endpoints() -> list[Endpoint]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_hub(Path(folder), Settings()) as hub,
            router.build_app(hub, LoginCodes(), Connections(hub, "")) as (_, endpoints),
        ):
            return endpoints


def _interfaces(components: dict[str, Any]) -> str:
    return "\n".join(_interface(name, components[name]) for name in sorted(components))


def _interface(name: str, schema: dict[str, Any]) -> str:
    if "properties" not in schema:
        return f"export type {_name(name)} = {_type(schema)}\n"
    needed = schema.get("required", ())
    fields = [
        _field(f"{field}{'' if field in needed else '?'}", shape) for field, shape in schema["properties"].items()
    ]
    return f"export interface {_name(name)} {{\n" + "\n".join(fields) + "\n}\n"


def _field(name: str, schema: dict[str, Any]) -> str:
    """A field on one line, or a line for each member of its union if that line is too long."""
    line = f"  {name}: {_type(schema)}"
    if len(line) <= _WIDTH:
        return line
    members = re.split(r" \| (?![^(]*\))", _type(schema))
    return f"  {name}:" + "".join(f"\n    | {one}" for one in members)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    for many in ("anyOf", "oneOf"):
        if many in schema:
            return _union(_type(one) for one in schema[many])
    if "enum" in schema:
        return _union(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    match schema.get("type"):
        case list() as kinds:
            return _union(_type({**schema, "type": kind}) for kind in kinds)
        case "array":
            if "prefixItems" in schema:
                return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
            inner = _type(schema.get("items") or {})
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "object":
            return f"Record<string, {_type(schema.get('additionalProperties') or {})}>"
        case str() as kind:
            return _PLAIN[kind]
        case _:
            return "unknown"


def _union(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def _name(name: str) -> str:
    """A name as TypeScript has it. Of two with the same name msgspec tells the modules: the noun goes first then."""
    parts = re.sub(r"[^\w.]", "", name).split(".")
    if len(parts) == 1:
        return parts[0]
    place = parts[parts.index("nouns") + 1] if "nouns" in parts else parts[-2]
    return f"{place.title().replace('_', '')}{parts[-1]}"


if __name__ == "__main__":
    for path, text in written().items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"renewed {path.relative_to(Path(__file__).parent.parent)}")
