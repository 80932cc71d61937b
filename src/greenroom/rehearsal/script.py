"""The script in a prompt: its directives, with values of earlier results inserted."""

import json
import re
from typing import Any, NamedTuple

from greenroom.rehearsal.introduction import build_introduction
from greenroom.rehearsal.json_rpc import RpcError

DIRECTIVES = (
    *("SAY", "THINK", "SLEEP", "SHELL", "WRITE", "EDIT", "TOOL", "ASK", "POST", "SPAWN", "OUTPUT", "USAGE", "RECALL"),
    *("QUOTA", "FAIL", "CRASH", "HANG"),
)
_OPS = "|".join(DIRECTIVES)
_LINE = re.compile(rf"\s*({_OPS})\b[ \t]*(.*)")
_ADDRESSED = re.compile(rf"\s*@\w[\w.-]*(?: [\w.-]+)??[,:]?\s+({_OPS})\b[ \t]*(.*)")
"""A directive after the name of its agent, as people write in a thread."""
_CALLED = re.compile(r"^You [^\n]*\(thread_id (\w+)\) of the Greenroom hub\.", re.MULTILINE)
_CONTINUES = re.compile(r"Go on\b|You may not do this: ")
"""The hub's prompts to continue, which are neither a script nor a question."""
_ASIDE = re.compile(r"[#>]( |$)")
_ESCAPE = re.compile(r"\\([n\\])")
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class ScriptDirective(NamedTuple):
    """One line of a script."""

    op: str
    text: str


def parse_script(prompt: str, *, says_plain: bool = False) -> list[ScriptDirective]:
    """The directives of a prompt; lines that are none are said, comments and what is quoted are not.

    Where the hub calls the agent into a thread, what it says around the script is not said back. Who writes no script
    at all is told what one is, unless plain words are to be said back too.
    """
    lines = [line for line in prompt.splitlines() if line.strip() and not _ASIDE.match(line)]
    is_called = get_thread(prompt) is not None
    found = [_LINE.fullmatch(line) or (_ADDRESSED.fullmatch(line) if is_called else None) for line in lines]
    if lines and not any(found) and not says_plain and not _CONTINUES.match(lines[0]):
        return [ScriptDirective("SAY", build_introduction(prompt, DIRECTIVES, in_thread=is_called))]
    return [
        ScriptDirective(*match.groups()) if match else ScriptDirective("SAY", line)
        for line, match in zip(lines, found, strict=True)
        if match or not is_called
    ]


def get_thread(prompt: str) -> str | None:
    """The thread that the agent is called into by this prompt."""
    called = _CALLED.search(prompt)
    return called[1] if called else None


def fill_values(text: str, results: list[Any]) -> str:
    """A text with each {{name}} replaced by the value of that name in the newest result that has one."""

    def value(place: re.Match[str]) -> str:
        found = next((one for result in reversed(results) if (one := get_value(result, place[1])) is not None), None)
        return place[0] if found is None else str(found)

    return _PLACE.sub(value, text)


def get_value(value: Any, name: str) -> Any:
    """A value by its name, nearest to the outside first."""
    level = [value]
    while level:
        for one in level:
            if isinstance(one, dict) and one.get(name) is not None:
                return one[name]
        parts = [list(one.values()) if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [inner for part in parts for inner in part]
    return None


def unescape_newlines(text: str) -> str:
    """A text in which `\\n` is a new line, and a doubled backslash one that is left for a script inside it."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else "\\", text)


def read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RpcError(f"this is not JSON: {text[:80]} ({error})") from None


def read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise RpcError(f"this is not a number: {text[:80]}") from None
