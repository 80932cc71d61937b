"""Events of old logs. Those from before asks were a noun of their own have no effect; the others are translated."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.link.reports import read_report
from greenroom.log.model import Event, Project, Recorded, Tx, Upcast


class PermissionWanted(Event, frozen=True, kw_only=True):
    """A call waited for approval, or a question for words."""

    permission_id: str
    run_id: str
    call_id: str
    tool: str
    kind: str = "permission"
    title: str = ""
    input: Any = None
    options: list[str] = []
    edits: bool = False


class PermissionDecided(Event, frozen=True, kw_only=True):
    """A waiting call was answered."""

    privileged: ClassVar[bool] = True
    permission_id: str
    decision: str
    text: str = ""
    arguments: dict[str, Any] | None = None
    rule: str = ""


class PermissionGone(Event, frozen=True, kw_only=True):
    """Nobody waited for this answer any more."""

    permission_id: str


def project_nothing(tx: Tx, event: Event, record: Recorded) -> None:
    """Later events contain the outcome of the runs of that time."""


def upcast_report(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had the name of an item apart from its fields."""
    report = read_report({**fields.pop("data"), "type": fields.pop("kind")})
    return {**fields, "heard": msgspec.to_builtins(report)}


def upcast_wait(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had the kind of an ask and its title in one text."""
    kind, _, title = fields.pop("waiting_for").partition(": ")
    return {**fields, "kind": kind if kind in ASK_KINDS else "question", "title": title}


def upcast_pause(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 began each reason with a word by which a pause was known."""
    return {**fields, "reason": fields["reason"].removeprefix("limit: ")}


UPCAST: Mapping[tuple[str, int], Upcast] = {
    ("RunHeard", 1): upcast_report,
    ("RunWaits", 1): upcast_wait,
    ("RunPaused", 1): upcast_pause,
}
PROJECT: dict[type[Event], Project] = {
    PermissionWanted: project_nothing,
    PermissionDecided: project_nothing,
    PermissionGone: project_nothing,
}
