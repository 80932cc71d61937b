"""The rules for credentials: nobody can give away more rights than they have."""

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.model import (
    CREDENTIALS,
    GRANTABLE,
    RIGHTS,
    CreateCredential,
    CredentialCreated,
    CredentialRevoked,
    Principal,
    RevokeCredential,
)
from greenroom.rules.access.queries import get_person_name, is_room_name, need_kind, need_right


def create_credential(rows: Rows, command: CreateCredential, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    need_kind(command.kind)
    rights = frozenset(RIGHTS[command.kind] if command.rights is None else command.rights)
    if not rights <= GRANTABLE[command.kind]:
        raise Refused("bad_rights", kind=command.kind, rights=sorted(rights - GRANTABLE[command.kind]))
    if not rights - {"node", "trigger", "ask", "answer"} <= by.rights:
        raise Refused("too_wide", "forbidden")
    if not command.name.strip() or len(command.name) > 100:
        raise Refused("bad_name.credential")
    if command.kind == "agent" and "register" not in rights and not command.agent_id:
        raise Refused("agent_required.credential")
    if (command.kind == "room") != (command.room is not None) or not (
        command.room is None or is_room_name(command.room)
    ):
        raise Refused("bad_room")
    person_id, person = _resolve_person(rows, command)
    return [
        copy_fields(
            command,
            CredentialCreated,
            kind=command.kind,
            name=command.name.strip(),
            rights=sorted(rights),
            person_id=person_id,
            person=person,
            device=command.device[:100],
            address=command.address[:100],
        )
    ]


def _resolve_person(rows: Rows, command: CreateCredential) -> tuple[str | None, str]:
    """The person whose credential it will be, with their name. A new person is called as their first credential is."""
    if command.kind != "operator":
        return None, ""
    if command.person_id is None:
        return command.credential_id, command.name.strip()
    return command.person_id, get_person_name(rows, command.person_id)


def revoke_credential(rows: Rows, command: RevokeCredential, context: Context) -> list[Event]:
    by = need_principal(command)
    if command.credential_id != by.credential:  # one's own may always be ended: that is how one logs out
        need_right(by, "operate")
    found = rows.get(CREDENTIALS, command.credential_id)
    if found is None:
        raise Refused("credential_not_found", "not_found")
    if found.revoked_at is not None:
        return []
    logins = [login for login in rows.find(CREDENTIALS, {"login_of": found.id}) if login.revoked_at is None]
    return [CredentialRevoked(credential_id=one.id, reason=command.reason) for one in (found, *logins)]


def need_principal(command: Command) -> Principal:
    """Who gave the command. Every command of a noun is given by a principal."""
    assert isinstance(command.by, Principal)  # noqa: S101 a bug, not an input
    return command.by


DECIDE: dict[type[Command], Decide] = {
    CreateCredential: create_credential,
    RevokeCredential: revoke_credential,
}
