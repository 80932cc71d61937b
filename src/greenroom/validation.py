"""What is wrong with a value that a person wrote: the key, the allowed values, and what was probably meant."""

import contextlib
import difflib
import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import msgspec

from greenroom.sentences import Sentence, Words, build_sentence

T = TypeVar("T")


def _find_words(kind: Any) -> set[str]:
    """The words of a Literal, or of a union of them."""
    return set().union(*(_find_words(one) for one in get_args(kind))) if get_args(kind) else {kind}


if TYPE_CHECKING:
    Sent = Annotated[T, ...]
else:

    class Sent:
        """`Sent[Risk]` is one of a closed set of words in a request: typed, and listed in OpenAPI, as the set.

        Any text is decoded, because the rules refuse what is not in the set, with a code and a sentence of their own.
        """

        def __class_getitem__(cls, words: Any) -> Any:
            return Annotated[str, msgspec.Meta(extra_json_schema={"enum": sorted(_find_words(words))})]


_MOST_COMPARED = 500
_LONGEST_NAME = 100
_suggestions_left: ContextVar[float] = ContextVar("suggestions_left", default=math.inf)
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_ENUM = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WRONG = re.compile(r"Expected `|Invalid ")
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


@contextlib.contextmanager
def limit_suggestions(most: int = 20) -> Iterator[None]:
    """Suggest a name for so many that are not known: each takes a look at all names that there are."""
    before = _suggestions_left.set(most)
    try:
        yield
    finally:
        _suggestions_left.reset(before)


def get_nearest(word: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant by one that is not known."""
    left = _suggestions_left.get()
    if left <= 0:
        return None
    _suggestions_left.set(left - 1)
    comparable = (name for name in known if len(name) <= _LONGEST_NAME)
    found = difflib.get_close_matches(word[:_LONGEST_NAME], itertools.islice(comparable, _MOST_COMPARED), 1)
    return found[0] if found else None


def explain_error(error: Exception, kind: Any) -> tuple[str, Words]:
    """The key that msgspec found wrong in a value of a kind (empty for the value itself), and what to write there."""
    found = _PLACE.fullmatch(str(error))
    said, place = (found[1], found[2]) if found else (str(error), "")
    if unknown := _UNKNOWN.match(said):
        known = _find_keys(_find_type_at(kind, place))
        return _join_key(place, unknown[1]), explain_unknown_key(unknown[1], known)
    if missing := _MISSING.match(said):
        key = _join_key(place, missing[1])
        return key, build_sentence("field.missing", wanted=describe_type(_find_type_at(kind, key)))
    if enum := _ENUM.match(said):
        return place, _explain_choice(enum[1], _find_type_at(kind, place))
    if _WRONG.match(said):
        return place, build_sentence("field.wrong_type", wanted=describe_type(_find_type_at(kind, place)))
    return place, said


def build_field_problem(key: str, problem: Words) -> Words:
    """What is wrong with a field, with the field's name; with the whole value if it has none."""
    return build_named_problem(key, problem) if key else problem


class InvalidField(ValueError):
    """A field has a value that cannot be used; the sentence names it, and says what to write instead."""

    def __init__(self, name: str, problem: Words) -> None:
        self.said = build_named_problem(name, problem)
        super().__init__(str(self.said))


def build_named_problem(name: str, problem: Words) -> Sentence:
    """What is wrong with a field that has a name."""
    return build_sentence("field", name=name, problem=problem)


def explain_unknown_key(key: str, known: Iterable[str]) -> Sentence:
    """That a key is not known, and which was probably meant."""
    known = list(known)
    if near := get_nearest(key, known):
        return build_sentence("field.unknown_key_near", near=near)
    return build_sentence("field.unknown_key", keys=known)


def _join_key(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _explain_choice(given: str, wanted: Any) -> Sentence:
    choices = [str(choice) for choice in _find_choices(wanted)]
    if near := get_nearest(given.strip("'"), choices):
        return build_sentence("field.unknown_choice_near", given=given, choices=_quote(choices), near=near)
    return build_sentence("field.unknown_choice", given=given, choices=_quote(choices))


def _quote(choices: Iterable[Any]) -> list[str]:
    return [f"'{choice}'" for choice in choices]


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


def describe_type(found: Any) -> Sentence:
    """What may be written for a value of a type."""
    from msgspec import inspect

    match found:
        case inspect.BoolType():
            return build_sentence("field_type.bool")
        case inspect.IntType():
            return _limit_number(build_sentence("field_type.integer"), found)
        case inspect.FloatType():
            return _limit_number(build_sentence("field_type.number"), found)
        case inspect.StrType():
            return build_sentence("field_type.text")
        case inspect.LiteralType():
            return build_sentence("field_type.choice", choices=_quote(found.values))
        case inspect.ListType():
            return build_sentence("field_type.list", item=describe_type(_strip_none(found.item_type)))
        case inspect.DictType() | inspect.StructType():
            return build_sentence("field_type.mapping")
        case inspect.UnionType():
            return functools.reduce(
                lambda first, second: build_sentence("field_type.either", first=first, second=second),
                map(describe_type, found.types),
            )
        case _:
            return build_sentence("field_type.other")


def _limit_number(number: Sentence, found: Any) -> Sentence:
    if found.ge is not None and found.le is not None:
        return build_sentence("field_type.between", number=number, least=found.ge, most=found.le)
    if found.ge is not None:
        return build_sentence("field_type.from", number=number, least=found.ge)
    return number if found.gt is None else build_sentence("field_type.above", number=number, above=found.gt)
