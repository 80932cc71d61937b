"""What is wrong with a value that a person wrote: the key, what may be written there, and what was probably meant."""

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import msgspec

T = TypeVar("T")

if TYPE_CHECKING:
    Sent = Annotated[T, ...]
else:

    class Sent:
        """`Sent[Risk]` is one of a closed set of words in a request: typed, and listed in OpenAPI, as the set.

        Any text is decoded, because the rules refuse what is not in the set, with a code and a sentence of their own.
        """

        def __class_getitem__(cls, words: Any) -> Any:
            return Annotated[str, msgspec.Meta(extra_json_schema={"enum": sorted(get_args(words))})]


_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_ENUM = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WRONG = re.compile(r"Expected `|Invalid ")
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def get_nearest(word: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant by one that is not known."""
    found = difflib.get_close_matches(word, list(known), 1)
    return found[0] if found else None


def explain_error(error: Exception, kind: Any) -> tuple[str, str]:
    """The key that msgspec found wrong in a value of a kind (empty for the value itself), and what to write there."""
    found = _PLACE.fullmatch(str(error))
    said, place = (found[1], found[2]) if found else (str(error), "")
    if unknown := _UNKNOWN.match(said):
        known = _find_keys(_find_type_at(kind, place))
        near = get_nearest(unknown[1], known)
        remedy = f"did you mean '{near}'?" if near else f"the keys are {', '.join(known)}"
        return _join_key(place, unknown[1]), f"this key is not known; {remedy}"
    if missing := _MISSING.match(said):
        key = _join_key(place, missing[1])
        return key, f"it is missing; write {_describe_type(_find_type_at(kind, key))}"
    if enum := _ENUM.match(said):
        return place, _describe_choice(enum[1], _find_type_at(kind, place))
    if _WRONG.match(said):
        return place, f"write {_describe_type(_find_type_at(kind, place))}"
    return place, said


def _join_key(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _describe_choice(given: str, wanted: Any) -> str:
    choices = [str(choice) for choice in _find_choices(wanted)]
    near = get_nearest(given.strip("'"), choices)
    listed = f"{given} is not known; write one of '{_join_choices(choices)}'"
    return f"{listed}: did you mean '{near}'?" if near else listed


def _join_choices(choices: Iterable[Any]) -> str:
    """Choices between one pair of quotes: they are written as they are in every language."""
    return "', '".join(map(str, choices))


def _find_type_at(kind: Any, place: str) -> Any:
    """The type of the field at a place such as `rules[0].decision`."""
    from msgspec import inspect

    found: Any = inspect.type_info(kind)
    for step in re.findall(r"\[|[^.\[\]]+", re.sub(r"\[[^\]]*\]", "[", place)):
        found = _strip_none(found)
        if step == "[":
            found = getattr(found, "item_type", None) or getattr(found, "value_type", None)
        else:
            fields = {field.encode_name: field.type for field in getattr(found, "fields", ())}
            found = fields.get(step)
        if found is None:
            return None
    return _strip_none(found)


def _strip_none(found: Any) -> Any:
    from msgspec import inspect

    if not isinstance(found, inspect.UnionType):
        return found
    some = [one for one in found.types if not isinstance(one, inspect.NoneType)]
    return some[0] if len(some) == 1 else inspect.UnionType(tuple(some))


def _find_keys(found: Any) -> list[str]:
    return [field.encode_name for field in getattr(found, "fields", ())]


def _find_choices(found: Any) -> tuple[Any, ...]:
    from msgspec import inspect

    match found:
        case inspect.LiteralType():
            return found.values
        case inspect.UnionType():
            return tuple(choice for one in found.types for choice in _find_choices(one))
        case _:
            return ()


def _describe_type(found: Any) -> str:
    """What may be written for a value of a type, in words."""
    from msgspec import inspect

    match found:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_describe_range(found.ge, found.gt, found.le)}"
        case inspect.FloatType():
            return f"a number{_describe_range(found.ge, found.gt, found.le)}"
        case inspect.StrType():
            return "a text"
        case inspect.LiteralType():
            return f"one of '{_join_choices(found.values)}'"
        case inspect.ListType():
            return f"a list; each item is {_describe_type(_strip_none(found.item_type))}"
        case inspect.DictType() | inspect.StructType():
            return "a mapping of names to values"
        case inspect.UnionType():
            return " or ".join(_describe_type(one) for one in found.types)
        case _:
            return "another value"


def _describe_range(least: float | None, above: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" from {least}"
    return f" above {above}" if above is not None else ""
