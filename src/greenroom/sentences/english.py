"""Values for programs that read English: fields declared as `Words` become text, and a `Sentence` stays one."""

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from greenroom.sentences import Sentence

T = TypeVar("T")
Render = Callable[[Any], Any]


def render_english(value: T) -> T:
    """A struct, or a list or a dictionary of them, with the English text of every field that is declared as `Words`.

    A struct with a field `sentences` gets the sentences there, for a reader of another language.
    """
    if isinstance(value, msgspec.Struct):
        return _render_struct(value)  # type: ignore[no-any-return]
    if isinstance(value, list):
        return [render_english(one) for one in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {name: render_english(one) for name, one in value.items()}  # type: ignore[return-value]
    return value


def find_sentences(value: msgspec.Struct, within: str = "") -> dict[str, Sentence]:
    """The sentences in the fields of a struct, by name; of a struct in it by `outer.inner`."""
    found: dict[str, Sentence] = {}
    for name, _ in _find_fields(type(value)):
        match getattr(value, name):
            case Sentence() as said:
                found[within + name] = said
            case msgspec.Struct() as inner:
                found |= find_sentences(inner, f"{within}{name}.")
    return found


def _render_struct(value: msgspec.Struct) -> Any:
    fields = _find_fields(type(value))
    if not fields:
        return value
    changed = {name: render(getattr(value, name)) for name, render in fields}
    if "sentences" in value.__struct_fields__:
        changed["sentences"] = find_sentences(value)
    return msgspec.structs.replace(value, **changed)


@cache
def _find_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, Render], ...]:
    """The fields that can hold words, and what renders them."""
    if kind is Sentence:
        return ()
    hints = get_type_hints(kind)
    found = ((name, _find_renderer(hints[name], ())) for name in kind.__struct_fields__)
    return tuple((name, render) for name, render in found if render is not None)


def _find_renderer(hint: Any, within: tuple[Any, ...]) -> Render | None:
    """What renders a value of a declared type; None where it can hold no words. `within` ends a recursive search."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if Sentence in parts and str in parts:
            return _render_words
        inner = [render for one in parts if (render := _find_renderer(one, within)) is not None]
        return _render_any(inner) if inner else None
    if origin in (list, tuple):
        one_by_one = _find_renderer(parts[0], within)
        return None if one_by_one is None else lambda values: list(map(one_by_one, values))
    if origin is dict:
        by_name = _find_renderer(parts[1], within)
        return None if by_name is None else lambda values: dict(zip(values, map(by_name, values.values()), strict=True))
    if not (isinstance(hint, type) and issubclass(hint, msgspec.Struct)) or hint is Sentence:
        return None
    return _render_struct if hint not in within and _can_hold_words(hint, within) else None


def _can_hold_words(kind: type[msgspec.Struct], within: tuple[Any, ...]) -> bool:
    hints = get_type_hints(kind)
    return any(_find_renderer(hints[name], (*within, kind)) is not None for name in kind.__struct_fields__)


def _render_words(words: Any) -> Any:
    return str(words) if isinstance(words, Sentence) else words


def _render_any(renders: list[Render]) -> Render:
    """Of a union: whatever the value is. A list, a dictionary and a struct each have one renderer at most."""

    def render(value: Any) -> Any:
        if value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, msgspec.Struct):
            return _render_struct(value)
        return next(one for one in renders if one is not _render_struct)(value)

    return render
