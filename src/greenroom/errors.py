"""The two ways in which an answer can be no; everything else is a bug."""

from typing import Any, Literal

LOGGED = "This error is in the hub's log already."
"""The note on a bug that nobody needs to log again."""
Kind = Literal["invalid", "forbidden", "not_found", "conflict", "limited", "too_large"]


class Refused(Exception):
    """The rules say no. `code` is for programs, `message` tells a person what to do instead."""

    def __init__(self, code: str, message: str, kind: Kind = "invalid", **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.kind: Kind = kind
        self.details = details


class Unavailable(Exception):
    """Something outside the rules is not there just now; the same call may succeed later."""

    def __init__(self, code: str, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s
