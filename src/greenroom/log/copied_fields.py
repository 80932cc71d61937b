"""Copies the fields that a command, an event and a row have in common, by name."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

T = TypeVar("T", bound=msgspec.Struct)


def copy_fields(source: msgspec.Struct, kind: type[T], /, **more: Any) -> T:
    """A `kind` with the fields that it shares with `source`, and those given as `more`, which go first."""
    names, read_values = _find_shared(type(source), kind)
    fields = dict(zip(names, read_values(source), strict=True))
    fields.update(more)
    return kind(**fields)


@cache
def _find_shared(
    source: type[msgspec.Struct], kind: type[msgspec.Struct]
) -> tuple[tuple[str, ...], Callable[[msgspec.Struct], tuple[Any, ...]]]:
    """The fields of one name, and what reads them; their types must fit, or they only happen to be called alike."""
    given, wanted = get_type_hints(source), get_type_hints(kind)
    shared = tuple(name for name in kind.__struct_fields__ if name in source.__struct_fields__)
    if wrong := [name for name in shared if not _fits(given[name], wanted[name])]:
        raise TypeError(f"{source.__name__} and {kind.__name__} mean different things by {', '.join(wrong)}")
    if len(shared) > 1:
        return shared, attrgetter(*shared)
    return shared, lambda one: tuple([getattr(one, name) for name in shared])


def _fits(given: Any, wanted: Any) -> bool:
    """Whether every value of the one type is one of the other."""
    return bool(given == wanted or set(get_args(given) or (given,)) <= set(get_args(wanted)))
