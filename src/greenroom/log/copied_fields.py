"""Copies the fields that a command, an event and a row have in common, by name."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T", bound=msgspec.Struct)


def copy_fields(source: msgspec.Struct, kind: type[T], /, **more: Any) -> T:
    """A `kind` with the fields that it shares with `source`, and those given as `more`, which go first."""
    names, read_values = _find_shared(type(source), kind, tuple(more))
    return kind(**dict(zip(names, read_values(source), strict=True)), **more)


def take_fields(row: T, source: msgspec.Struct, /, **more: Any) -> T:
    """`row` with the values that `source` has in the fields that both share, and those given as `more`."""
    names, read_values = _find_shared(type(source), type(row), tuple(more))
    return msgspec.structs.replace(row, **dict(zip(names, read_values(source), strict=True)), **more)


@cache
def _find_shared(
    source: type[msgspec.Struct], kind: type[msgspec.Struct], given: tuple[str, ...]
) -> tuple[tuple[str, ...], Callable[[msgspec.Struct], tuple[Any, ...]]]:
    """The fields of one name that are not given, and what reads them; their types must fit."""
    has, wants = get_type_hints(source), get_type_hints(kind)
    shared = tuple(name for name in kind.__struct_fields__ if name in source.__struct_fields__ and name not in given)
    if wrong := [name for name in shared if not _fits(has[name], wants[name])]:
        raise TypeError(f"{source.__name__} and {kind.__name__} mean different things by {', '.join(wrong)}")
    if len(shared) > 1:
        return shared, attrgetter(*shared)
    return shared, lambda one: tuple([getattr(one, name) for name in shared])


def _fits(given: Any, wanted: Any) -> bool:
    """Whether every value of the one type is one of the other."""
    return all(any(_is_within(one, other) for other in _split_union(wanted)) for one in _split_union(given))


def _split_union(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _is_within(given: Any, wanted: Any) -> bool:
    if given == wanted or wanted is Any:
        return True
    if get_origin(given) is not Literal:
        return False
    allowed = get_args(wanted) if get_origin(wanted) is Literal else ()
    return all(value in allowed or type(value) is wanted for value in get_args(given))
