"""Prefixed ids that sort by creation time."""

import os
import time
from functools import lru_cache

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = (_ALPHABET * 8).encode()
_CHUNK = 20
_fresh: list[str] = []


def _random_text() -> str:
    """20 random letters, 5 bits each. The system is asked for many at a time: other threads could take the interpreter
    each time."""
    try:
        return _fresh.pop()
    except IndexError:
        text = os.urandom(_CHUNK * 65).translate(_LETTERS).decode()
        parts = [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
        _fresh.extend(parts[1:])
        return parts[0]


@lru_cache(16)
def _time_text(ms: int) -> str:
    """48 bits as ten letters."""
    return "".join([_ALPHABET[(ms >> shift) & 31] for shift in range(45, -1, -5)])


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_01jd3v0b9k3f8y2q6r5t7w1x4z`: 48 bits of milliseconds, then 80 random bits."""
    return f"{prefix}_{_time_text(time.time_ns() // 1_000_000)}{_random_text()[:16]}"


def id_before(prefix: str, ms: int) -> str:
    """What sorts before every id of this prefix that was made at a time or later, and after all earlier ones."""
    return f"{prefix}_{_time_text(ms)}"


def new_secret(size: int = 32) -> str:
    """Random text that nobody can guess, in the alphabet of ids."""
    number = int.from_bytes(os.urandom(size), "big")
    return "".join([_ALPHABET[(number >> shift) & 31] for shift in range(0, size * 8, 5)])


def new_nonce() -> str:
    """100 random bits, for a member's reply tokens; one is made for each post, so it is made fast."""
    return _random_text()
