"""Signed calls: what a caller must send so that nobody else can, and nobody can send it again."""

import hashlib
import hmac
import re

from greenroom.log.errors import Refused

WINDOW_S = 300
TIMESTAMP, NONCE, SIGNATURE = "x-greenroom-timestamp", "x-greenroom-nonce", "x-greenroom-signature"
_PREFIX = "sha256="
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,128}", re.ASCII)
"""No dot: it would let the boundary to the body be moved, and the call be sent again as another one."""


def secret_of(key: bytes, door: str) -> str:
    """The secret of one trigger or hook. It follows from the hub's key, so that it is written down nowhere."""
    return "whs_" + hmac.new(key, f"webhook {door}".encode(), hashlib.sha256).hexdigest()


def sign(secret: str, timestamp: str, nonce: str, body: bytes) -> str:
    """The signature of a call: HMAC-SHA-256 over `timestamp.nonce.body`."""
    signed = f"{timestamp}.{nonce}.".encode() + body
    return _PREFIX + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def need_signed(secret: str, timestamp: str, nonce: str, signature: str, body: bytes, now: int) -> None:
    """Refuse a call that is not signed with the secret, or not within the last minutes."""
    if not _TIME.fullmatch(timestamp) or not _NONCE.fullmatch(nonce):
        raise wrong_signature()
    if not hmac.compare_digest(sign(secret, timestamp, nonce, body).encode(), signature.encode()):
        raise wrong_signature()
    if abs(int(timestamp) * 1000 - now) > WINDOW_S * 1000:
        raise Refused("signature_too_old", f"The timestamp is more than {WINDOW_S} seconds away from now.", "forbidden")


def wrong_signature() -> Refused:
    """One answer for every call that is not proven, so that nobody learns which triggers there are."""
    return Refused(
        "wrong_signature",
        f"There is no such trigger, or the call is not signed: send {TIMESTAMP}, {NONCE} and {SIGNATURE}.",
        "forbidden",
    )
