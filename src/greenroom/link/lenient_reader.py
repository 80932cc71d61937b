"""Structs from JSON that another version has written: a field of another type counts as missing."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

Read = TypeVar("Read", bound=msgspec.Struct)


def read_fitting(fields: Mapping[str, Any], kind: type[Read], instead: Mapping[Any, Any]) -> Read:
    """The valid fields of an object. `instead` has, by type, the value of a required field that is missing."""
    return kind(**{field.name: _read_field(field, fields, instead) for field in msgspec.structs.fields(kind)})


def _read_field(field: msgspec.structs.FieldInfo, fields: Mapping[str, Any], instead: Mapping[Any, Any]) -> Any:
    if field.name in fields:
        try:
            return msgspec.convert(fields[field.name], field.type)
        except msgspec.ValidationError:
            pass
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else instead[field.type]
