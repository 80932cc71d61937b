"""Tokens as text: `gr_<kind>_<id>_<secret>_<check>`, made so that scanners find them and typing errors show."""

import hashlib
import hmac
import re
import zlib
from typing import Literal, NamedTuple

from greenroom.ids import new_secret

PATTERN = re.compile(r"gr_([a-z]+)_([0-9a-z]{26})_([0-9a-z]{52})_([0-9a-f]{8})")


CredentialKind = Literal["operator", "viewer", "room", "agent", "node", "webhook"]


class Token(NamedTuple):
    """A new token: `text` is shown once, `digest` is stored."""

    credential_id: str
    text: str
    digest: str


def new_token(kind: CredentialKind | Literal["none"]) -> Token:
    """A token with 256 random bits."""
    number, secret = new_secret(16)[:26], new_secret(32)
    stem = f"gr_{kind}_{number}_{secret}"
    text = f"{stem}_{zlib.crc32(stem.encode()):08x}"
    return Token(f"cred_{number}", text, hash_token(text))


def new_key() -> str:
    """A key for a page, which proves a login together with its cookie."""
    return new_secret(32)


def hash_token(text: str) -> str:
    """The stored digest of a token. Its secret is random and long, so one round of SHA-256 is enough."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse_credential_id(text: str) -> str | None:
    """The id of the credential that a token claims to be, or None if it has not the shape of a token."""
    match = PATTERN.fullmatch(text)
    if match is None or f"{zlib.crc32(text[: match.start(4) - 1].encode()):08x}" != match.group(4):
        return None
    return f"cred_{match.group(2)}"


def hide_tokens(text: str) -> str:
    """A text in which tokens are named and no more."""
    return PATTERN.sub(r"gr_\1_\2_…", text)


def is_token_of(digest: str, text: str) -> bool:
    """Whether the text is the token of this digest, in constant time."""
    return hmac.compare_digest(digest, hash_token(text))
