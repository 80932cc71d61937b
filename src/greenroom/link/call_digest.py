"""What an approval is bound to: one canonical encoding of the exact call, and its SHA-256."""

import hashlib
import json
from typing import Any

import msgspec


class Subject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The exact call that waits for approval: all of it is bound by the digest, nothing else is."""

    tool: str
    arguments: Any = None
    directory: str = ""
    profile: str = ""
    agent_id: str = ""
    run_id: str = ""
    sandbox: str = ""
    files: dict[str, str] = {}
    """Files that the call names directly, with the SHA-256 of their contents."""


_VERSION = 1


def encode_canonical(value: Any) -> bytes:
    """JSON with sorted keys and no white space: the same value is the same bytes, on the hub and on every node."""
    plain = msgspec.to_builtins(value)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def hash_call(subject: Subject, arguments: Any = None) -> str:
    """The digest of a call, with other arguments if such are given."""
    bound = {name: getattr(subject, name) for name in Subject.__struct_fields__}
    if arguments is not None:
        bound["arguments"] = arguments
    return hashlib.sha256(encode_canonical({"v": _VERSION, **bound})).hexdigest()


def hash_wish(*parts: Any) -> str:
    """What makes two requests the same: a short name for who asks and what."""
    return hashlib.sha256(encode_canonical(list(parts))).hexdigest()[:40]
