"""The identity of a hub in its data directory: the hub's name and the operator's token."""

import hashlib
import secrets
from pathlib import Path

from greenroom.link.tokens import new_token
from greenroom.log.data_directory import HUB_ID, OPERATOR_TOKEN, StoreUnusable, write_private
from greenroom.rules.access.model import HUB, OWNER_ID, CreateCredential
from greenroom.rules.access.queries import get_principal
from greenroom.services.hub import Hub


def load_instance_name(data: Path, is_shared: bool) -> str:
    """The hub's name; among several on a database it is kept, for directories on two machines may have one path."""
    if not is_shared:
        return hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:8]
    path = data / HUB_ID
    if not path.exists():
        write_private_file(path, secrets.token_hex(4) + "\n")
    return path.read_text().strip()


async def ensure_operator(hub: Hub) -> None:
    """There is always an operator's token in the data directory, readable by its owner only."""
    path = hub.data / OPERATOR_TOKEN
    if path.exists():
        path.chmod(0o600)
        text = path.read_text(errors="replace").strip()
        if text and get_principal(hub.rows, text, hub.log.clock.now()) is not None:
            return
    token = new_token("operator")
    await hub.log.do(
        CreateCredential(
            by=HUB,
            credential_id=token.credential_id,
            kind="operator",
            name="operator",
            digest=token.digest,
            person_id=OWNER_ID,
        )
    )
    write_private_file(path, token.text + "\n")


def write_private_file(path: Path, text: str) -> None:
    try:
        write_private(path, text)
    except OSError as error:
        raise StoreUnusable(f"{path} cannot be written ({error.strerror}): see to that, and start again.") from error
