"""Patterns with `*` and `?`, matched in time linear in the text, because an agent chooses the text."""

from typing import NamedTuple

_STAR, _ANY = "*", "?"


class GlobToken(NamedTuple):
    """One part of a pattern: a sign, any sign, or any number of signs; `crosses` the separator, or does not."""

    kind: str
    sign: str = ""
    crosses: bool = False


class Glob:
    """One pattern; `*` stops at `separate`, `**` does not, and a backslash takes its meaning away."""

    def __init__(self, glob: str, *, separate: str = "") -> None:
        self._tokens = _tokenize(glob, separate)
        self._separate = separate
        plain = all(token.kind not in (_STAR, _ANY) for token in self._tokens)
        self._whole = "".join(token.sign for token in self._tokens) if plain else None
        self._pieces = _split_pieces(self._tokens) if not plain and not separate else None
        self._signs: dict[str, int] = {}
        self._stars = self._crossing = self._anys = 0
        for place, token in enumerate(self._tokens):
            bit = 1 << place
            if token.kind == _STAR:
                self._stars |= bit
                self._crossing |= bit if token.crosses else 0
            elif token.kind == _ANY:
                self._anys |= bit
            else:
                self._signs[token.sign] = self._signs.get(token.sign, 0) | bit

    def fits(self, text: str) -> bool:
        """Whether it matches the whole text."""
        if self._whole is not None:
            return text == self._whole
        if self._pieces is not None:
            return _fit_pieces(self._pieces, text)
        signs, stars, crossing, anys, separate = self._signs, self._stars, self._crossing, self._anys, self._separate
        reached = 1 | (1 & stars) << 1  # the places that the pattern can be at, one bit for each
        for sign in text:
            if sign == separate:
                step, stay = signs.get(sign, 0), crossing
            else:
                step, stay = signs.get(sign, 0) | anys, stars
            reached = (reached & step) << 1 | reached & stay
            if not reached:
                return False
            reached |= (reached & stars) << 1
        return bool(reached >> len(self._tokens) & 1)


def _split_pieces(tokens: list[GlobToken]) -> list[str] | None:
    """What stands between the stars of a pattern, empty at its ends where there is a star; None if it has a `?`."""
    pieces = [""]
    for token in tokens:
        if token.kind == _ANY:
            return None
        if token.kind == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token.sign
    return pieces


def _fit_pieces(pieces: list[str], text: str) -> bool:
    """Whether a text has these pieces one after the other, the first at its beginning and the last at its end."""
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in middle:
        place = text.find(piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True


def _tokenize(glob: str, separate: str) -> list[GlobToken]:
    found: list[GlobToken] = []
    place = 0
    while place < len(glob):
        sign = glob[place]
        if sign == "\\" and place + 1 < len(glob):
            place += 1
            found.append(GlobToken("", glob[place]))
        elif sign == _STAR:
            crosses = not separate or glob.startswith("**", place)
            place += int(bool(separate) and crosses)
            if found and found[-1].kind == _STAR:
                crosses = found.pop().crosses or crosses
            found.append(GlobToken(_STAR, crosses=crosses))
        else:
            found.append(GlobToken(_ANY if sign == _ANY else "", sign))
        place += 1
    return found
