"""An agent's calls that wait for approval. Only the approved call may run."""

import logging
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from greenroom.link.call_digest import Subject, hash_call
from greenroom.link.orders import DecideOrder
from greenroom.link.reports import CallReport, PermissionAsked
from greenroom.node.call_paths import CallPaths, resolve_call_paths
from greenroom.node.program_digests import digest_programs
from greenroom.sentences import Sentence, build_sentence

logger = logging.getLogger(__name__)


class SeenCall(NamedTuple):
    """What only this machine can see of a call: where its paths lead, and the programs that it names."""

    paths: CallPaths
    files: dict[str, str]


class PendingCall(NamedTuple):
    """A call that waits, and its state when it was asked about."""

    subject: Subject
    directory: Path
    hidden: Path | None
    seen: SeenCall


class PermissionGate:
    """One session's calls that wait."""

    def __init__(self) -> None:
        self._waiting: dict[str, PendingCall] = {}

    def add_call(
        self, asked: PermissionAsked, place: Subject, directory: Path, hidden: Path | None = None
    ) -> CallReport:
        """Keep what a call would run, and report it with what the hub cannot see of it."""
        arguments = msgspec.json.decode(msgspec.json.encode(asked.input))  # as the hub will read it
        seen = _inspect_call(asked.tool, arguments, directory, hidden)
        subject = msgspec.structs.replace(
            place, tool=asked.tool, arguments=arguments, directory=seen.paths.directory, files=seen.files
        )
        self._waiting[asked.permission] = PendingCall(subject, directory, hidden, seen)
        return CallReport(
            **msgspec.structs.asdict(asked),
            directory=seen.paths.directory,
            resolved=seen.paths.resolved or msgspec.UNSET,
            own=seen.paths.is_own or msgspec.UNSET,
            files=seen.files,
        )

    def forget(self, permission: str) -> None:
        self._waiting.pop(permission, None)

    def get_refusal(self, order: DecideOrder) -> Sentence | None:
        """Why an approved call may not run: it, or a file that it names, is not what was approved."""
        waiting = self._waiting.pop(order.native, None)
        if order.decision != "allow" or (waiting is None and not order.digest):
            return None  # a no needs no look, and a question has nothing that runs
        if waiting is None:
            return build_sentence("gate.not_waiting")
        try:
            if hash_call(waiting.subject, order.arguments) != order.digest:
                return build_sentence("gate.changed")
            if order.arguments is not None:
                return None  # a person has written it, and has seen no other
            now = _inspect_call(waiting.subject.tool, waiting.subject.arguments, waiting.directory, waiting.hidden)
        except (ValueError, TypeError, RecursionError, OSError):
            logger.exception("an approved call cannot be looked at")
            return build_sentence("gate.unreadable")
        if now.files != waiting.seen.files:
            return build_sentence("gate.program_changed")
        if now != waiting.seen:
            return build_sentence("gate.path_moved")
        return None


def _inspect_call(tool: str, arguments: Any, directory: Path, hidden: Path | None) -> SeenCall:
    return SeenCall(resolve_call_paths(directory, tool, arguments, hidden), digest_programs(tool, arguments, directory))
