"""Signed calls: a signature that nobody else can make and nobody can use twice.

The form is that of Standard Webhooks. The form that Greenroom had before is still taken. Each has a secret of its own,
so that a signature of one form is never good in the other.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from standardwebhooks import Webhook

from greenroom.errors import Refused

WINDOW_S = 300
ID, TIME, SIGNATURES = "webhook-id", "webhook-timestamp", "webhook-signature"
"""The headers of Standard Webhooks."""
TIMESTAMP, NONCE, SIGNATURE = "x-greenroom-timestamp", "x-greenroom-nonce", "x-greenroom-signature"
"""The headers of the older form."""
HEADERS = (ID, TIME, SIGNATURES, TIMESTAMP, NONCE, SIGNATURE)
_PREFIX = "sha256="
_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,128}", re.ASCII)
"""No dot: it would let the boundary to the body be moved, and the call be sent again as another one."""
_MOST_SIGNATURES = 10


class SignedCall(NamedTuple):
    """What a call proves: it has this id, and was signed at this time, in milliseconds."""

    nonce: str
    signed_at: int


def derive_secret(key: bytes, door: str) -> str:
    """The secret of one trigger or hook. It follows from the hub's key, so that it is written down nowhere."""
    derived = hmac.new(key, f"standard webhook {door}".encode(), hashlib.sha256).digest()
    return "whsec_" + base64.b64encode(derived).decode()


def derive_legacy_secret(key: bytes, door: str) -> str:
    """The secret of the older form."""
    return "whs_" + hmac.new(key, f"webhook {door}".encode(), hashlib.sha256).hexdigest()


def sign(secret: str | bytes, message_id: str, seconds: int, body: bytes) -> str:
    """The signature of a call: HMAC-SHA-256 over `id.timestamp.body`."""
    return Webhook(secret).sign(message_id, datetime.fromtimestamp(seconds, UTC), body.decode())


def sign_legacy_call(secret: str, timestamp: str, nonce: str, body: bytes) -> str:
    """The signature of the older form: HMAC-SHA-256 over `timestamp.nonce.body`."""
    signed = f"{timestamp}.{nonce}.".encode() + body
    return _PREFIX + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def need_signed_call(key: bytes, door: str, headers: Mapping[str, str], body: bytes, now: int) -> SignedCall:
    """Refuse a call that is not signed with the secret of this door, or not within the last minutes."""
    is_old = not any(name in headers for name in (ID, TIME, SIGNATURES))
    names = (NONCE, TIMESTAMP, SIGNATURE) if is_old else (ID, TIME, SIGNATURES)
    nonce, timestamp, signature = (headers.get(name, "") for name in names)
    if not _SECONDS.fullmatch(timestamp) or not _NONCE.fullmatch(nonce):
        raise build_wrong_signature()
    if is_old:
        right, shown = sign_legacy_call(derive_legacy_secret(key, door), timestamp, nonce, body), [signature]
    else:
        try:
            right = sign(derive_secret(key, door), nonce, int(timestamp), body)
        except UnicodeDecodeError:
            raise build_wrong_signature() from None
        shown = signature.split(" ")[:_MOST_SIGNATURES]  # a sender that changes its secret signs with both
    if not any(hmac.compare_digest(right.encode(), one.encode()) for one in shown):
        raise build_wrong_signature()
    signed_at = int(timestamp) * 1000
    if abs(signed_at - now) > WINDOW_S * 1000:
        raise Refused("signature_too_old", "forbidden", seconds=WINDOW_S)
    return SignedCall(nonce, signed_at)


def build_wrong_signature() -> Refused:
    """The same refusal for every call without a valid signature, so that nobody learns which triggers exist."""
    return Refused("wrong_signature", "forbidden", id=ID, time=TIME, signatures=SIGNATURES)
