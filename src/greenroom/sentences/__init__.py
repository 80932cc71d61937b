"""What Greenroom says to people: a sentence is a key and parameters, with one catalogue for each language.

`en.json` and `zh-CN.json` beside this file hold the words, in which `{name}` stands for a parameter. The page imports
both and shows the language of its reader; everybody else gets `str(sentence)`, which is English. A list is joined by
commas, a list of sentences by semicolons. A full stop after a parameter that ends with a question mark is left out.
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

CATALOGUE: dict[str, str] = json.loads(Path(__file__).with_name("en.json").read_text(encoding="utf-8"))
PLACE = re.compile(r"\{(\w+)\}")
_PLACE_AND_STOP = re.compile(r"\{(\w+)\}(\.?)")

Scalar = str | int | float


class Sentence(msgspec.Struct, frozen=True):
    key: str
    """The code of an error, or one that begins with it: "too_long.topic"."""
    params: "dict[str, Scalar | Sentence | list[Scalar | Sentence]]" = {}

    def __str__(self) -> str:
        text = CATALOGUE.get(self.key)
        if text is None:  # a newer hub has written it, or a newer node has sent it
            return ": ".join([self.key, *map(_word, self.params.values())])
        return _PLACE_AND_STOP.sub(self._word_place, text)

    def _word_place(self, place: re.Match[str]) -> str:
        word = _word(self.params.get(place[1], "…"))
        return word if word.endswith("?") else word + place[2]


Words = Sentence | str
"""A sentence of ours, or words that came from elsewhere, such as those of an agent."""


def build_sentence(key: str, /, **params: object) -> Sentence:
    """A sentence; what is neither a number, a sentence nor a list becomes its text."""
    return Sentence(key, {name: _list_param(value) for name, value in params.items()})


def shorten(said: Words, limit: int) -> Words:
    """Words that came from elsewhere, cut to so many characters; a sentence of ours is short by itself."""
    return said[:limit] if isinstance(said, str) else said


def join_with_and(words: Iterable[Words]) -> Words:
    """One thing and another; there is at least one."""
    return functools.reduce(lambda first, second: build_sentence("both", first=first, second=second), words)


def list_wire_fields(said: Words) -> dict[str, Any]:
    """What a program needs to word a sentence in another language: nothing for words that are nobody's key."""
    return {"key": said.key, "params": said.params} if isinstance(said, Sentence) else {}


def _list_param(value: object) -> Any:
    if isinstance(value, Sequence | set | frozenset | Mapping) and not isinstance(value, str):
        return [_build_param(one) for one in value]
    return _build_param(value)


def _build_param(value: object) -> Any:
    is_plain = isinstance(value, str | int | float | Sentence) and not isinstance(value, bool)
    return value if is_plain else str(value)


def _word(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    joint = "; " if any(isinstance(one, Sentence) for one in value) else ", "
    return joint.join(map(str, value))
