"""Records when and from where logged-in browsers were last used."""

import logging

from greenroom.errors import Unavailable
from greenroom.log.log import Log
from greenroom.rules.access.login_uses import NoteUses
from greenroom.rules.access.model import HUB

logger = logging.getLogger(__name__)
_EVERY_MS = 600_000
"""A use is recorded once in this time, however many requests a browser makes."""
_MOST = 10_000


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
