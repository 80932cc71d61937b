"""The sync rules: the author of a post has read every message before it. Reply tokens work once and never expire."""

from typing import NamedTuple

from greenroom.log.model import Rows
from greenroom.rules.threads.model import MESSAGES, Member, Thread

MISSING = "MissingSyncFields"
INVALID = "ReplyTokenInvalid"
REPLAY = "ReplyTokenReplay"
MISMATCH = "SeqMismatch"


class SyncCheck(NamedTuple):
    """What the sync fields of a post amount to: an error, or the number of the token they use."""

    error: str | None = None
    used: int | None = None


def format_token(nonce: str, number: int) -> str:
    return f"{nonce}-{number}"


def get_held_token(member: Member) -> str | None:
    """The newest reply token that the member has not used yet."""
    return format_token(member.nonce, member.unused[-1]) if member.unused else None


def check_sync(
    rows: Rows, thread: Thread, member: Member | None, expected: int | None, token: str | None, tolerance: int
) -> SyncCheck:
    """Judge the sync fields of a post, in the order in which clients rely on."""
    if expected is None or not token:
        return SyncCheck(MISSING)
    nonce, _, number_text = token.rpartition("-")
    if member is None or nonce != member.nonce or not number_text.isascii() or not number_text.isdigit():
        return SyncCheck(INVALID)
    number = int(number_text[:18])
    if not 0 < number <= member.issued:
        return SyncCheck(INVALID)
    if number not in member.unused:
        return SyncCheck(REPLAY)
    if thread.current_seq > expected:
        unseen = rows.count(MESSAGES, {"thread_id": thread.id}, after=("seq", expected)) if tolerance else 1
        if unseen > tolerance:
            return SyncCheck(MISMATCH)
    return SyncCheck(used=number)
