"""Fields that two structs share are copied by name, and only where their types fit."""

from typing import Literal

import msgspec
import pytest

from greenroom.log.copied_fields import copy_fields, take_fields


class Given(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    state: Literal["open", "shut"] = "open"
    size: int = 3
    at: str = "noon"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str | None
    state: str = "unknown"
    size: int = 0


class Dated(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    at: int


def test_shared_fields_are_copied_and_given_ones_go_first() -> None:
    assert copy_fields(Given(name="a"), Kept, id="k", size=9) == Kept(id="k", name="a", state="open", size=9)


def test_a_row_takes_what_it_shares_and_keeps_the_rest() -> None:
    kept = Kept(id="k", name="old", size=1)
    assert take_fields(kept, Given(name="new"), state="mine") == Kept(id="k", name="new", state="mine", size=3)


def test_fields_of_one_name_and_other_types_are_not_copied() -> None:
    with pytest.raises(TypeError, match="Given and Dated mean different things by at"):
        copy_fields(Given(name="a"), Dated)
    assert copy_fields(Given(name="a"), Dated, at=5) == Dated(name="a", at=5)


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(TypeError, match="id"):
        copy_fields(Given(name="a"), Kept)
