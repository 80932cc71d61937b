"""Refused calls, as the audit records them."""

from typing import ClassVar

import msgspec

from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Rows, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right


class RefusedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A refused call: principal, call and reason; `times` is above one for the total of a flood."""

    by: str = ""
    """The principal; empty when the call authenticated nobody."""
    peer: str = ""
    action: str = ""
    code: str
    status: int
    times: int = 1
    since: int


class NoteRefusals(Command, frozen=True, kw_only=True):
    """Record a refused call."""

    refused: list[RefusedCall]


class CallRefused(Event, frozen=True, kw_only=True):
    """A call was refused; nothing was done."""

    privileged: ClassVar[bool] = True
    refusal: ClassVar[bool] = True
    refused: RefusedCall


def note_refusals(rows: Rows, command: NoteRefusals, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [CallRefused(refused=one) for one in command.refused]


def project_nothing(tx: Tx, event: CallRefused, record: Recorded) -> None:
    """Refusals are read in the audit; nothing follows from them."""


DECIDE: dict[type[Command], Decide] = {NoteRefusals: note_refusals}
PROJECT: dict[type[Event], Project] = {CallRefused: project_nothing}
