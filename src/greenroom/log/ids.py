"""Prefixed ids that sort by the time they were made."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]

_CHUNK = 12
_fresh: list[bytes] = []


def _random_bytes() -> bytes:
    """A few random bytes, asked of the system many at a time: each time other threads could take the interpreter."""
    try:
        return _fresh.pop()
    except IndexError:
        block = os.urandom(_CHUNK * 64)
        _fresh.extend([block[start : start + _CHUNK] for start in range(0, len(block), _CHUNK)])
        return os.urandom(_CHUNK)


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_01jd3v0b9k3f8y2q6r5t7w1x4z`: 48 bits of milliseconds, then 80 random bits."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(_random_bytes()[:10], "big")
    return prefix + "_" + "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


def new_secret(size: int = 32) -> str:
    """Random text that nobody can guess, in the alphabet of ids."""
    number = int.from_bytes(os.urandom(size), "big")
    return "".join([_ALPHABET[(number >> shift) & 31] for shift in range(0, size * 8, 5)])


def new_nonce() -> str:
    """96 random bits, for a member's reply tokens; one is made for each post, so it is made fast."""
    return _random_bytes().hex()
