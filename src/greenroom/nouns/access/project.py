"""Rows of credentials."""

import msgspec

from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.nouns.access import refusals
from greenroom.nouns.access.decide import DECIDE
from greenroom.nouns.access.model import CREDENTIALS, Credential, CredentialCreated, CredentialRevoked


def credential_created(tx: Tx, event: CredentialCreated, record: Recorded) -> None:
    tx.put(
        CREDENTIALS,
        Credential(
            id=event.credential_id,
            kind=event.kind,
            name=event.name,
            digest=event.digest,
            rights=event.rights,
            created_at=record.at,
            created_by=record.by,
            agent_id=event.agent_id,
            threads=event.threads,
            room=event.room,
            expires_at=event.expires_at,
            browser=event.browser,
        ),
    )


def credential_revoked(tx: Tx, event: CredentialRevoked, record: Recorded) -> None:
    found = tx.get(CREDENTIALS, event.credential_id)
    if found is not None:
        tx.put(CREDENTIALS, msgspec.structs.replace(found, revoked_at=record.at))


PROJECT: dict[type[Event], Project] = {
    CredentialCreated: credential_created,
    CredentialRevoked: credential_revoked,
    **refusals.PROJECT,
}

ACCESS = Noun(
    name="access",
    tables=(CREDENTIALS,),
    events=tuple(PROJECT),
    decide={**DECIDE, **refusals.DECIDE},
    project=PROJECT,
    sources=("greenroom.nouns.access.model", "greenroom.nouns.access.project"),
)
