"""The part of a message around the words that a search found."""

import re

from greenroom.log.sqlite_text_index import INDEXED_CHARS

_BEFORE = 60
_LENGTH = 200


def cut_snippet(content: str, query: str) -> str:
    """Some characters around the first word that occurs, with each word between <mark> and </mark>."""
    words = [re.escape(word.strip('"')) for word in query.split() if word.strip('"')]
    found = re.compile("|".join(words), re.IGNORECASE) if words else None
    first = found.search(content, 0, INDEXED_CHARS) if found else None
    start = max(0, first.start() - _BEFORE) if first else 0
    piece = content[start : start + _LENGTH]
    marked = found.sub(lambda word: f"<mark>{word[0]}</mark>", piece) if found else piece
    return ("…" if start else "") + marked + ("…" if start + _LENGTH < len(content) else "")
