"""When and where from browsers that are logged in were used last, so that a person can tell their logins apart."""

import logging

import msgspec

from greenroom.log.errors import Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Rows, Tx
from greenroom.nouns.access.decide import need_principal
from greenroom.nouns.access.model import CREDENTIALS, HUB
from greenroom.nouns.access.queries import need_right

logger = logging.getLogger(__name__)
_EVERY_MS = 600_000
"""A use is recorded once in this time, however many requests a browser makes."""
_MOST = 10_000


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


class LoginUseRecorder:
    """Remembers which logins are used until that is written."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._noted_at: dict[str, int] = {}
        self._unwritten: dict[str, str] = {}

    def note(self, credential_id: str, address: str) -> None:
        """A request was made with a login. Costs nothing but memory; it is written a moment later."""
        now = self._log.clock.now()
        noted_at = self._noted_at.get(credential_id)
        if noted_at is None or now - noted_at >= _EVERY_MS:
            if len(self._noted_at) >= _MOST:
                self._noted_at.clear()
            self._noted_at[credential_id] = now
            self._unwritten[credential_id] = address

    async def flush(self) -> None:
        """Write what was noted; what cannot be written now is kept."""
        if not self._unwritten:
            return
        addresses, self._unwritten = self._unwritten, {}
        try:
            await self._log.do(NoteUses(by=HUB, addresses=addresses))
        except Unavailable as no:
            logger.warning("the use of %d logins cannot be written now: %s", len(addresses), no)
            self._unwritten = addresses | self._unwritten


DECIDE: dict[type[Command], Decide] = {NoteUses: note_uses}
PROJECT: dict[type[Event], Project] = {CredentialUsed: credential_used}
