"""Ids as people type them: complete, by a few letters of their beginning or end, or by a name.

An argument that takes an id is declared with `type=id_of("run")`; `open_client` puts the whole id for what was typed.
"""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from greenroom.cli.terminal import WHOLE_ID, escape_line
from greenroom.errors import Refused

if TYPE_CHECKING:
    from greenroom.cli.client import HubClient

_WORDS = {
    "run": "run",
    "ask": "ask",
    "agt": "agent",
    "thr": "thread",
    "wfr": "run of a workflow",
    "cred": "credential",
    "grt": "standing yes",
    "node": "node",
    "chn": "channel",
}


class TypedId(str):
    """An id as it was typed, with the kinds of ids that it may be."""

    kinds: tuple[str, ...]
    suggests: bool


def build_id_type(*kinds: str, suggests: bool = True) -> Callable[[str], TypedId]:
    """The type of an argument that takes an id of one of these kinds, given by their prefixes.

    One that takes names too which are not known here (`suggests=False`) is never refused for its spelling.
    """

    def read(text: str) -> TypedId:
        typed = TypedId(text)
        typed.kinds, typed.suggests = kinds, suggests
        return typed

    read.kinds = kinds  # type: ignore[attr-defined]  # what completion looks at
    return read


def resolve_ids(client: "HubClient", args: argparse.Namespace) -> None:
    """Replace ids as they were typed by complete ids."""
    for name, value in vars(args).items():
        if isinstance(value, TypedId):
            setattr(args, name, _resolve(client, value))
        elif isinstance(value, list) and any(isinstance(one, TypedId) for one in value):
            setattr(args, name, [_resolve(client, one) for one in value])


def _resolve(client: "HubClient", typed: TypedId) -> str:
    """Names of agents and nodes are left as they are: the hub takes them wherever one is meant."""
    return need_id(client, typed, *typed.kinds, suggests=typed.suggests, keeps_names="thr" not in typed.kinds)


def need_id(client: "HubClient", text: str, *kinds: str, suggests: bool = True, keeps_names: bool = False) -> str:
    """The whole id that is meant. What means nothing is left as it is, for the hub to refuse in its own words."""
    if WHOLE_ID.fullmatch(text) or not text:
        return str(text)
    found = client.get("ids", kinds=",".join(kinds), text=text)
    if found["by_name"] and keeps_names:
        return str(text)
    if len(found["ids"]) == 1:
        return str(found["ids"][0]["id"])
    if found["ids"]:
        raise _build_ambiguous_error(text, kinds, found)
    if found["near"] and suggests:
        word = _WORDS[kinds[0]]
        near = " or ".join(repr(name) for name in found["near"])
        raise Refused.in_words("id_not_found", f"There is no {word} {text!r}: did you mean {near}?", "not_found")
    return str(text)


def _build_ambiguous_error(text: str, kinds: tuple[str, ...], found: dict[str, Any]) -> Refused:
    candidates = [f"{one['id']}  {escape_line(one['about'])}" for one in found["ids"]]
    more = ["and more: write some more letters"] if found["has_more"] else []
    word = " or ".join(_WORDS[kind] for kind in kinds)
    return Refused.in_words("ambiguous_id", "\n".join([f"{text!r} may mean more than one {word}:", *candidates, *more]))
