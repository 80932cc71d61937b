"""Finds the owner of a token, and lists credentials."""

import re

from greenroom.errors import Refused
from greenroom.link.tokens import CredentialKind, is_token_of, parse_credential_id
from greenroom.log.model import Rows
from greenroom.rules.access.model import (
    CREDENTIAL_KINDS,
    CREDENTIALS,
    OWNER_HANDLE,
    OWNER_ID,
    Credential,
    Principal,
    Right,
)

_BY_ANOTHER = {"answer": frozenset({"operate"}), "enter": frozenset({"read", "answer"})}
"""Rights that others bring: who operates may answer, and whoever may read or answer anything may come in."""
_REVOKED = 500
_NAME = re.compile(r"[\w-]{1,64}")


def get_principal(rows: Rows, token: str, now: int) -> Principal | None:
    """The principal whose valid token this is. A browser's login is no token: it is valid as a cookie only."""
    credential = _get_credential(rows, token, now)
    return None if credential is None or credential.browser else build_principal(credential)


def get_login(rows: Rows, cookie: str, key: str, now: int) -> Principal | None:
    """The principal whose valid login this is, by its cookie and by the key that its page holds."""
    credential = _get_credential(rows, cookie, now)
    if credential is None or not has_key(credential) or not is_token_of(credential.key_digest, key):
        return None
    return build_principal(credential)


def is_login(rows: Rows, cookie: str, now: int) -> bool:
    """Whether a cookie is that of a login. Only the page itself, which holds nothing of anybody, is shown for that."""
    credential = _get_credential(rows, cookie, now)
    return credential is not None and has_key(credential) and not {"read", "answer"}.isdisjoint(credential.rights)


def has_key(credential: Credential) -> bool:
    """Whether a credential is a login with a key; those from before there were keys must log in again."""
    return credential.browser and bool(credential.key_digest)


def _get_credential(rows: Rows, token: str, now: int) -> Credential | None:
    credential_id = parse_credential_id(token)
    credential = rows.get(CREDENTIALS, credential_id) if credential_id else None
    if credential is None or not is_token_of(credential.digest, token) or not is_live(credential, now):
        return None
    return credential


def is_live(credential: Credential, now: int) -> bool:
    """Neither revoked nor expired."""
    return credential.revoked_at is None and (credential.expires_at is None or now < credential.expires_at)


def build_principal(credential: Credential) -> Principal:
    """The principal that a credential proves. An agent is the same whichever of its credentials it shows."""
    return Principal(
        id=credential.agent_id or credential.login_of or credential.id,
        kind=credential.kind,
        name=credential.person or credential.name,
        rights=frozenset(credential.rights),
        agent_id=credential.agent_id,
        credential=credential.id,
        threads=None if credential.threads is None else frozenset(credential.threads),
        room=credential.room,
        expires_at=credential.expires_at,
        person_id=credential.person_id,
        person=credential.person,
        handle=OWNER_HANDLE if credential.person_id in (None, OWNER_ID) else credential.name,
    )


def get_person_name(rows: Rows, person_id: str) -> str:
    """The name of a person, which all their credentials share; empty while the owner has set none."""
    found = rows.find(CREDENTIALS, {"person_id": person_id}, limit=1)
    return found[0].person if found else ""


def find_credentials(rows: Rows) -> list[Credential]:
    """Credentials, oldest first; of those that were taken back, which every run leaves behind, only the newest."""
    revoked = rows.find(CREDENTIALS, after=("revoked_at", 0), order="revoked_at", desc=True, limit=_REVOKED)
    return sorted([*rows.find(CREDENTIALS, {"revoked_at": None}), *revoked], key=lambda credential: credential.id)


def find_unrevoked(rows: Rows, agent_id: str) -> list[Credential]:
    """The credentials of an agent or a node that were not taken back, oldest first."""
    return rows.find(CREDENTIALS, {"agent_id": agent_id, "revoked_at": None}, order="_key")


def has_right(by: Principal, right: Right) -> bool:
    """Whether a principal has a right, or one that brings it."""
    if right == "all" and by.is_confined:
        return False
    return right in by.rights or not by.rights.isdisjoint(_BY_ANOTHER.get(right, ()))


def need_right(by: Principal, right: Right) -> None:
    """Refuse whoever lacks a right."""
    if not has_right(by, right):
        raise Refused("forbidden.right", "forbidden", kind=by.kind, right=right)


def need_kind(kind: CredentialKind) -> None:
    """Refuse a kind of credential that cannot be given."""
    if kind not in CREDENTIAL_KINDS:
        raise Refused("bad_kind.credential", kind=kind)


def is_room_name(text: str) -> bool:
    """Whether a room may be called so."""
    return _NAME.fullmatch(text) is not None
