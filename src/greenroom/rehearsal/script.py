"""The script in a prompt: its directives, and values of earlier results put into them."""

import re
from typing import Any, NamedTuple

DIRECTIVES = (
    *("SAY", "THINK", "SLEEP", "SHELL", "WRITE", "EDIT", "TOOL", "ASK", "POST", "SPAWN", "OUTPUT", "USAGE", "RECALL"),
    *("QUOTA", "FAIL", "CRASH", "HANG"),
)
_LINE = re.compile(rf"\s*({'|'.join(DIRECTIVES)})\b[ \t]*(.*)")
_ASIDE = re.compile(r"[#>]( |$)")
_ESCAPE = re.compile(r"\\([n\\])")
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Directive(NamedTuple):
    """One line of a script."""

    op: str
    text: str


def parse(prompt: str) -> list[Directive]:
    """The directives of a prompt; lines that are none are said, comments and what is quoted are not."""
    lines = [line for line in prompt.splitlines() if line.strip() and not _ASIDE.match(line)]
    return [
        Directive(*match.groups()) if (match := _LINE.fullmatch(line)) else Directive("SAY", line) for line in lines
    ]


def fill(text: str, results: list[Any]) -> str:
    """A text with each {{name}} replaced by the value of that name in the newest result that has one."""

    def value(place: re.Match[str]) -> str:
        found = next((one for result in reversed(results) if (one := find(result, place[1])) is not None), None)
        return place[0] if found is None else str(found)

    return _PLACE.sub(value, text)


def find(value: Any, name: str) -> Any:
    """A value by its name, nearest to the outside first."""
    level = [value]
    while level:
        for one in level:
            if isinstance(one, dict) and one.get(name) is not None:
                return one[name]
        parts = [list(one.values()) if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [inner for part in parts for inner in part]
    return None


def unfold(text: str) -> str:
    """A text in which `\\n` is a new line, and a doubled backslash one that is left for a script inside it."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else "\\", text)
