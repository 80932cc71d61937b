"""Programs that profiles name and nodes lack, so that nobody invites an agent that cannot start."""

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Row, Rows, Table, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.profiles import Profile


class MissingProgram(Row, frozen=True, kw_only=True):
    """A node did not find the program of a profile when it looked last."""

    node_id: str
    profile: str
    program: str


MISSING_PROGRAMS = Table("missing_program", MissingProgram, ("node_id", "profile"), (("node_id",),))


class NoteMissingPrograms(Command, frozen=True, kw_only=True):
    """Say which programs a node does not have: all of them, by the profiles that name them."""

    node_id: str
    programs: dict[str, str]


class MissingProgramsNoted(Event, frozen=True, kw_only=True):
    """A node does not have these programs, and has all others that profiles name."""

    node_id: str
    programs: dict[str, str]


def note_missing_programs(rows: Rows, command: NoteMissingPrograms, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    known = {row.profile: row.program for row in rows.find(MISSING_PROGRAMS, {"node_id": command.node_id})}
    if known == command.programs:
        return []
    return [copy_fields(command, MissingProgramsNoted)]


def lacks_program(rows: Rows, node_id: str, profile: Profile) -> bool:
    """Whether a node is known not to have the program that a profile names now."""
    found = rows.get(MISSING_PROGRAMS, node_id, profile.name)
    return found is not None and [found.program] == profile.definition.command[:1]


def missing_programs_noted(tx: Tx, event: MissingProgramsNoted, record: Recorded) -> None:
    for row in tx.find(MISSING_PROGRAMS, {"node_id": event.node_id}):
        tx.drop(MISSING_PROGRAMS, row.node_id, row.profile)
    for profile, program in event.programs.items():
        tx.put(MISSING_PROGRAMS, MissingProgram(node_id=event.node_id, profile=profile, program=program))


DECIDE: dict[type[Command], Decide] = {NoteMissingPrograms: note_missing_programs}
PROJECT: dict[type[Event], Project] = {MissingProgramsNoted: missing_programs_noted}
