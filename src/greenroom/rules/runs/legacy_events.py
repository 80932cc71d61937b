"""Events of old logs, from before asks were a noun of their own. They are decoded and have no effect."""

from typing import Any, ClassVar

from greenroom.log.model import Event, Project, Recorded, Tx


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


PROJECT: dict[type[Event], Project] = {
    PermissionWanted: project_nothing,
    PermissionDecided: project_nothing,
    PermissionGone: project_nothing,
}
