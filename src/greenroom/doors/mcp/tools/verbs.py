"""The tools built from the tables of verbs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.ids import new_id
from greenroom.log.model import Command
from greenroom.rules.verb import McpVerb, Verb, build_input_type

BuildAnswer = Callable[[McpCall[Any], str], msgspec.Struct]


def build_verb_tools(verbs: Iterable[Verb], answers: Mapping[type[Command], BuildAnswer] = {}) -> dict[str, Tool[Any]]:
    """The tools of these verbs by name. `answers` has their answers that are more than ok and the id."""
    return {
        verb.tool.name: _build_tool(verb, verb.tool, answers.get(verb.command))
        for verb in verbs
        if verb.tool is not None
    }


def _build_tool(verb: Verb, tool: McpVerb, build_answer: BuildAnswer | None) -> Tool[Any]:
    takes = verb.takes if tool.takes is None else tool.takes
    args = build_input_type(verb, f"{verb.command.__name__}Args", (verb.id_field, *takes), is_strict=True)

    async def run(call: McpCall[Any]) -> Any:
        given = msgspec.structs.asdict(call.args)
        named = given.pop(verb.id_field)
        await call.hub.log.do(verb.build_command(call.by, None, named, given, new_id))
        return build_answer(call, named) if build_answer else {"ok": True, verb.id_field: named}

    return Tool(tool.name, tool.says, args, verb.right, run)
