"""Invitations, for the audit: who invited which agent into which thread, and the outcome."""

from typing import ClassVar, Literal

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Rows, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right


class NoteInvitation(Command, frozen=True, kw_only=True):
    """Write down who invites which agent into which thread, before it is done."""

    agent_name: str
    thread_id: str
    run_id: str
    command: str = ""


InvitationStatus = Literal["refused", "completed", "failed", "cancelled", "interrupted"]


class NoteOutcome(Command, frozen=True, kw_only=True):
    """Write down what became of an invitation."""

    agent_name: str
    thread_id: str
    run_id: str
    status: InvitationStatus
    reason: str = ""


class AgentInvited(Event, frozen=True, kw_only=True):
    """An agent was invited into a thread."""

    privileged: ClassVar[bool] = True
    agent_name: str
    thread_id: str
    run_id: str
    command: str = ""


class InvitationEnded(Event, frozen=True, kw_only=True):
    """What an invitation came to: refused, or how the run ended."""

    privileged: ClassVar[bool] = True
    agent_name: str
    thread_id: str
    run_id: str
    status: InvitationStatus
    reason: str = ""


def note_invitation(rows: Rows, command: NoteInvitation, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [copy_fields(command, AgentInvited)]


def note_outcome(rows: Rows, command: NoteOutcome, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [copy_fields(command, InvitationEnded)]


def project_nothing(tx: Tx, event: AgentInvited | InvitationEnded, record: Recorded) -> None:
    """Invitations are read in the audit; what follows from them are rows of runs."""


DECIDE: dict[type[Command], Decide] = {NoteInvitation: note_invitation, NoteOutcome: note_outcome}
PROJECT: dict[type[Event], Project] = {AgentInvited: project_nothing, InvitationEnded: project_nothing}
