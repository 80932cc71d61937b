"""Rows of credentials."""

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.rules.access import epochs, login_uses, refused_calls
from greenroom.rules.access.decide import DECIDE
from greenroom.rules.access.model import (
    CREDENTIALS,
    HUB,
    OWNER_ID,
    Credential,
    CredentialCreated,
    CredentialRevoked,
    PersonNamed,
)
from greenroom.rules.access.queries import get_person_name


def credential_created(tx: Tx, event: CredentialCreated, record: Recorded) -> None:
    person_id, person = event.person_id, event.person
    if event.kind == "operator" and person_id is None:
        person_id, person = _guess_legacy_person(tx, event, record)
    tx.put(
        CREDENTIALS,
        copy_fields(
            event,
            Credential,
            id=event.credential_id,
            created_at=record.at,
            created_by=record.by,
            person_id=person_id,
            person=person,
        ),
    )


def _guess_legacy_person(tx: Tx, event: CredentialCreated, record: Recorded) -> tuple[str, str]:
    """Whose credential it is that was made before credentials named their person: logins were called as their token."""
    if record.by == HUB.id and event.name in ("operator", "browser"):
        return OWNER_ID, get_person_name(tx, OWNER_ID)
    token = next((one for one in tx.find(CREDENTIALS, {"kind": "operator"}) if one.name == event.name), None)
    if event.browser and token is not None and token.person_id is not None:
        return token.person_id, token.person
    return event.credential_id, event.name


def person_named(tx: Tx, event: PersonNamed, record: Recorded) -> None:
    for credential in tx.find(CREDENTIALS, {"person_id": event.person_id}):
        tx.put(CREDENTIALS, msgspec.structs.replace(credential, person=event.name))


def credential_revoked(tx: Tx, event: CredentialRevoked, record: Recorded) -> None:
    found = tx.get(CREDENTIALS, event.credential_id)
    if found is not None:
        tx.put(CREDENTIALS, msgspec.structs.replace(found, revoked_at=record.at))


PROJECT: dict[type[Event], Project] = {
    CredentialCreated: credential_created,
    CredentialRevoked: credential_revoked,
    PersonNamed: person_named,
    **epochs.PROJECT,
    **login_uses.PROJECT,
    **refused_calls.PROJECT,
}

ACCESS = Noun(
    name="access",
    tables=(CREDENTIALS, epochs.EPOCHS),
    events=tuple(PROJECT),
    decide={**DECIDE, **login_uses.DECIDE, **refused_calls.DECIDE},
    project=PROJECT,
    sources=(
        "greenroom.rules.access.model",
        "greenroom.rules.access.project",
        "greenroom.rules.access.epochs",
        "greenroom.rules.access.login_uses",
    ),
)
