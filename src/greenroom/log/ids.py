"""Prefixed ids that sort by the time they were made."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_01jd3v0b9k3f8y2q6r5t7w1x4z`: 48 bits of milliseconds, then 80 random bits."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return prefix + "_" + "".join([_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)])


def new_secret(size: int = 32) -> str:
    """Random text that nobody can guess, in the alphabet of ids."""
    number = int.from_bytes(os.urandom(size), "big")
    return "".join([_ALPHABET[(number >> shift) & 31] for shift in range(0, size * 8, 5)])
