"""Who a token belongs to, and which credentials there are."""

import re

from greenroom.log.errors import Refused
from greenroom.log.model import Rows
from greenroom.nouns.access.model import CREDENTIALS, RIGHTS, Credential, Principal
from greenroom.nouns.access.tokens import credential_of, matches

_BY_ANOTHER = {"answer": frozenset({"operate"}), "enter": frozenset({"read", "answer"})}
"""Rights that others bring: who operates may answer, and whoever may read or answer anything may come in."""
_REVOKED = 500
_NAME = re.compile(r"[\w-]{1,64}")


def get_principal(rows: Rows, token: str, now: int) -> Principal | None:
    """The principal whose valid token this is."""
    credential_id = credential_of(token)
    credential = credential_id and rows.get(CREDENTIALS, credential_id)
    if not credential or not matches(credential.digest, token) or not is_live(credential, now):
        return None
    return principal_of(credential)


def is_live(credential: Credential, now: int) -> bool:
    """Neither revoked nor expired."""
    return credential.revoked_at is None and (credential.expires_at is None or now < credential.expires_at)


def principal_of(credential: Credential) -> Principal:
    """The principal that a credential proves. An agent is the same whichever of its credentials it shows."""
    return Principal(
        id=credential.agent_id or credential.id,
        kind=credential.kind,  # type: ignore[arg-type]  # checked when the credential was made
        name=credential.name,
        rights=frozenset(credential.rights),
        agent_id=credential.agent_id,
        credential=credential.id,
        threads=None if credential.threads is None else frozenset(credential.threads),
        room=credential.room,
        expires_at=credential.expires_at,
    )


def find_credentials(rows: Rows) -> list[Credential]:
    """Credentials, oldest first; of those that were taken back, which every run leaves behind, only the newest."""
    revoked = rows.find(CREDENTIALS, after=("revoked_at", 0), order="revoked_at", desc=True, limit=_REVOKED)
    return sorted([*rows.find(CREDENTIALS, {"revoked_at": None}), *revoked], key=lambda credential: credential.id)


def find_unrevoked(rows: Rows, agent_id: str) -> list[Credential]:
    """The credentials of an agent or a node that were not taken back, oldest first."""
    return rows.find(CREDENTIALS, {"agent_id": agent_id, "revoked_at": None}, order="_key")


def need_right(by: Principal, right: str) -> None:
    """Refuse whoever lacks a right."""
    if right not in by.rights and by.rights.isdisjoint(_BY_ANOTHER.get(right, ())):
        raise Refused(
            "forbidden",
            f"A credential of kind {by.kind} may not do this: it needs the right '{right}'.",
            "forbidden",
        )


def need_kind(kind: str) -> None:
    """Refuse a kind of credential that cannot be given."""
    if kind not in RIGHTS or kind in ("anonymous", "hub"):
        raise Refused("bad_kind", f"There is no kind '{kind}': use operator, viewer, room, agent, node or webhook.")


def is_name(text: str) -> bool:
    """Whether a room may be called so."""
    return _NAME.fullmatch(text) is not None
