"""The key from which the secrets of webhooks are derived, in a file that only its owner can read."""

import os
import secrets
from pathlib import Path

from greenroom.errors import Unavailable

KEY_FILE = "webhook.key"
_LEAST = 32


def ensure_webhook_key(data: Path) -> bytes:
    """The key of this hub, made the first time that it is needed."""
    path = data / KEY_FILE
    try:
        if not path.exists():
            _write_new_key(path)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            key = file.read(4096).strip()
    except OSError as error:
        raise Unavailable("no_webhook_key.unreadable", error=error.strerror) from error
    if len(key) < _LEAST:
        raise Unavailable("no_webhook_key.damaged", file=KEY_FILE)
    return key


def _write_new_key(path: Path) -> None:
    """Write it whole, and never over one that another has made meanwhile."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(32) + "\n")
    try:
        os.link(part, path)
    except FileExistsError:
        return
    finally:
        part.unlink()
