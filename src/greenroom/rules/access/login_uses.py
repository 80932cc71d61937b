"""When and where each logged-in browser was last used, so that a person can tell their logins apart."""

import msgspec

from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Rows, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import CREDENTIALS
from greenroom.rules.access.queries import need_right


class NoteUses(Command, frozen=True, kw_only=True):
    """Record that logins were used, each with the address that it was used from."""

    addresses: dict[str, str]


class CredentialUsed(Event, frozen=True, kw_only=True):
    """A login was used."""

    credential_id: str
    address: str = ""


def note_uses(rows: Rows, command: NoteUses, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [
        CredentialUsed(credential_id=credential_id, address=address[:100])
        for credential_id, address in command.addresses.items()
        if (found := rows.get(CREDENTIALS, credential_id)) is not None and found.revoked_at is None
    ]


def credential_used(tx: Tx, event: CredentialUsed, record: Recorded) -> None:
    found = tx.get(CREDENTIALS, event.credential_id)
    if found is not None:
        tx.put(CREDENTIALS, msgspec.structs.replace(found, last_used_at=record.at, address=event.address))


DECIDE: dict[type[Command], Decide] = {NoteUses: note_uses}
PROJECT: dict[type[Event], Project] = {CredentialUsed: credential_used}
