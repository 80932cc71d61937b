"""The hub's keys for notifications, each in a file that only its owner can read, and the signatures made with them."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from greenroom.errors import Refused
from greenroom.log.data_directory import write_private

_FOLDER = "notify"
_VALID_S = 86_400


class Ticket(msgspec.Struct, frozen=True):
    """What a notification lets its receiver do: open one ask, or answer it as it was shown, once."""

    ask: str
    digest: str
    channel: str
    may: str
    """open or act."""


class NotifyKeys:
    """Keys and channels' secrets under the data directory. Cryptography is loaded with the first of them."""

    def __init__(self, data: Path) -> None:
        from cryptography.fernet import Fernet

        self._folder = data / _FOLDER
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._signing = Fernet(self._ensure("signing.key", Fernet.generate_key))
        self._pem = self._ensure("vapid.pem", _new_pem)

    def _ensure(self, name: str, make: Any) -> bytes:
        path = self._folder / name
        if not path.exists():
            write_private(path, make())
        return path.read_bytes()

    @property
    def public_key(self) -> str:
        """The VAPID key that a browser subscribes with."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        from py_vapid import Vapid02  # type: ignore[import-untyped]

        point = Vapid02.from_pem(self._pem).public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def push_headers(self, endpoint: str, contact: str) -> dict[str, str]:
        """What proves to a push service that it is this hub that sends, and whom to write to about it."""
        from py_vapid import Vapid02

        parts = urlsplit(endpoint)
        signed = Vapid02.from_pem(self._pem).sign({"sub": contact, "aud": f"{parts.scheme}://{parts.netloc}"})
        return {str(name): str(value) for name, value in signed.items()}

    def sign(self, ticket: Ticket) -> str:
        return self._signing.encrypt(msgspec.json.encode(ticket)).decode()

    def need_ticket(self, text: str, may: str, since_ms: int) -> Ticket:
        """The ticket that this hub signed, if it is for this and not too old, or older than `since_ms`."""
        from cryptography.fernet import InvalidToken

        try:
            ticket = msgspec.json.decode(self._signing.decrypt(text.encode(), ttl=_VALID_S), type=Ticket)
            is_old = self._signing.extract_timestamp(text.encode()) * 1000 < since_ms
        except (InvalidToken, msgspec.MsgspecError, UnicodeEncodeError):
            ticket, is_old = None, True
        if ticket is None or is_old or ticket.may != may:
            raise Refused("bad_ticket.too_old", "forbidden")
        return ticket

    def keep_secret(self, channel_id: str, secret: dict[str, Any]) -> None:
        write_private(self._place(channel_id), json.dumps(secret).encode())

    def get_secret(self, channel_id: str) -> dict[str, Any] | None:
        """Where a channel leads; None when that was never kept here."""
        try:
            found: dict[str, Any] = json.loads(self._place(channel_id).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found

    def forget(self, channel_id: str) -> None:
        self._place(channel_id).unlink(missing_ok=True)

    def _place(self, channel_id: str) -> Path:
        return self._folder / f"{channel_id}.json"


def _new_pem() -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
