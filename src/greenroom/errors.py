"""The two errors that a caller can get, `Refused` and `Unavailable`. Everything else is a bug."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from greenroom.sentences import Words, build_sentence

LOGGED = "This error is in the hub's log already."
"""The note on a bug that is logged already."""
RefusalKind = Literal["invalid", "forbidden", "not_found", "conflict", "limited", "too_large"]


class SentenceError(Exception):
    """An error that says a sentence. `code` is for programs: the part of the sentence's key before the first dot."""

    def __init__(self, key: str, /, **params: object) -> None:
        self._set_words(key.partition(".")[0], build_sentence(key, **params))

    def _set_words(self, code: str, said: Words) -> None:
        self.code = code
        self.said: Words = said
        self.message = str(said)
        super().__init__(self.message)


class Refused(SentenceError):
    """The rules forbid it. The sentence tells a person what to do instead; `details` become part of the answer."""

    def __init__(
        self, key: str, kind: RefusalKind = "invalid", /, *, details: Mapping[str, Any] | None = None, **params: object
    ) -> None:
        super().__init__(key, **params)
        self.kind: RefusalKind = kind
        self.details = dict(details or {})

    @classmethod
    def in_words(cls, code: str, words: str, kind: RefusalKind = "invalid", **details: Any) -> Self:
        """With words of another program's, or of the command line, which speaks English only."""
        no = cls.__new__(cls)
        no._set_words(code, words)
        no.kind, no.details = kind, details
        return no


class Unavailable(SentenceError):
    """Something outside the rules is not available at the moment; the same call may succeed later."""

    def __init__(self, key: str, retry_after_s: float = 1.0, /, **params: object) -> None:
        super().__init__(key, **params)
        self.retry_after_s = retry_after_s
