"""Remembers what was sent to clients that send no digest: their approval counts for exactly that."""

from greenroom.rules.asks.model import Ask

_MOST = 10_000


class ShownAsks:
    """The digests of the asks that each viewer was sent; of very many the oldest are forgotten."""

    def __init__(self) -> None:
        self._digests: dict[tuple[str, str], str] = {}

    def note(self, viewer: str, ask: Ask) -> None:
        self._digests[viewer, ask.id] = ask.digest
        if len(self._digests) > _MOST:
            del self._digests[next(iter(self._digests))]

    def get_digest(self, viewer: str, ask_id: str) -> str | None:
        """The digest of what this viewer was sent as the ask; None when it was sent nothing."""
        return self._digests.get((viewer, ask_id))
