"""Values of earlier tool results by name, for {{name}} in a script."""

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from greenroom.testing.fake_llm.request import Blocks

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_HEADER = re.compile(r"^\[(?P<seq>\d+)\] (?P<author>.+) \((?P<role>\w+)\) (?P<created_at>\S+)$", re.M)
_decode = json.JSONDecoder().raw_decode


class NoValue(Exception):
    """No tool result has a value of that name."""


def fill_template(template: Any, results: Sequence[Blocks], given: Mapping[str, Any]) -> Any:
    """A JSON value with every {{name}} in it replaced; what is `given` goes before what results say."""

    def value_of(name: str) -> Any:
        return given[name] if name in given else need_value(results, name)

    match template:
        case dict():
            return {key: fill_template(value, results, given) for key, value in template.items()}
        case list():
            return [fill_template(value, results, given) for value in template]
        case str():
            alone = _PLACE.fullmatch(template)
            return value_of(alone[1]) if alone else _PLACE.sub(lambda place: str(value_of(place[1])), template)
        case _:
            return template


def need_value(results: Sequence[Blocks], name: str) -> Any:
    """The value in the newest result that has one."""
    for blocks in reversed(results):
        found = get_value(blocks, name)
        if found is not None:
            return found
    raise NoValue(f"none of {len(results)} tool results has {name!r}")


def get_value(blocks: Blocks, name: str) -> Any:
    """The value in one result; the last block that has one decides, null is none."""
    for block in reversed(blocks):
        found = _get_from_json(block, name)
        if found is None:
            found = _get_from_text(block, name)
        if found is not None:
            return found
    return None


def has_field(blocks: Blocks, name: str) -> bool:
    """Whether the result itself, and not something in it, has a value of that name."""
    return any(isinstance(value, dict) and value.get(name) is not None for value in map(_parse_json, blocks))


def _get_from_json(block: str, name: str) -> Any:
    """Breadth first, and of a list the last element first: the thread's own seq, else that of the last message."""
    queue: deque[Any] = deque([block])
    while queue:
        match queue.popleft():
            case dict() as found:
                if found.get(name) is not None:
                    return found[name]
                queue.extend(found.values())
            case list() as found:
                queue.extend(reversed(found))
            case str() as text:
                queue.append(_parse_json(text))
    return None


def _parse_json(text: str) -> Any:
    """The object or list that a text is; None when it is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _get_from_text(block: str, name: str) -> Any:
    """In a message's header line, or in JSON of which the client has left only a part or that it has quoted."""
    headers = list(_HEADER.finditer(block))
    if headers and name in headers[-1].groupdict():
        text = headers[-1][name]
        return int(text) if name == "seq" else text
    plain = block.replace('\\"', '"')
    for place in reversed(list(re.finditer(rf'"{name}"\s*:\s*', plain))):
        try:
            value, _ = _decode(plain, place.end())
        except ValueError:
            continue
        if value is not None:
            return value
    return None
