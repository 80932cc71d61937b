"""Limits the work of reading one shell text: an agent chooses it, and the hub answers nobody while it reads.

The grammar needs time in proportion to the square of some texts, most of them no valid shell. So what it takes long for
is counted before, and what it reads again and again while it reads.
"""

import re

from greenroom.sentences import Sentence, build_sentence

_MOST_CHARS = 20_000
_MOST_STEPS = 15_000
_CHARS_A_STEP = 4
_PART = 64
_MOST_READ = 8
"""How often the grammar may read a text: it goes back where there is more than one way to take it."""
_SIGN = re.compile(r"[^\w\s./'\"=,:+%-]")
_MOST_SIGNS = 600
_MOST_TOKENS = 2500
"""Words and signs. In text that is no shell, each takes longer than the one before it."""
_NESTING = re.compile(r"<<|\(\(|\[\[|\$\{|\b(?:case|function|for|select|while|until|if)\b")
_MOST_NESTING = 30
"""What may hold much more text than a command."""
TOO_LONG = build_sentence("doubt.too_many_steps")


class ReadingBudget:
    """The steps that are left for a text and all texts inside it: one for each node of a syntax tree, and for each few
    characters that are parsed."""

    def __init__(self) -> None:
        self.left = _MOST_STEPS

    def take(self, steps: int = 1) -> bool:
        """Whether so many steps were left."""
        self.left -= steps
        return self.left >= 0

    def refuse(self, text: str) -> Sentence | None:
        """Why a text is not parsed at all; None when it is, and then its steps are taken."""
        if len(text) > _MOST_CHARS:
            return build_sentence("doubt.too_long", limit=_MOST_CHARS)
        signs = len(_SIGN.findall(text))
        is_crowded = signs > _MOST_SIGNS or signs + len(text.split()) > _MOST_TOKENS
        if is_crowded or len(_NESTING.findall(text)) > _MOST_NESTING:
            return build_sentence("doubt.too_many_signs")
        return None if self.take(len(text) // _CHARS_A_STEP) else TOO_LONG


class TextSource:
    """A text as the grammar reads it, part by part; it ends early for a grammar that reads it too often."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._left = _MOST_READ * len(text) // _PART + _MOST_READ

    @property
    def is_exhausted(self) -> bool:
        """Whether the grammar has not seen the whole text."""
        return self._left < 0

    def read(self, offset: int, point: object) -> bytes:
        """The next part."""
        self._left -= 1
        return b"" if self._left < 0 else self._text[offset : offset + _PART]
