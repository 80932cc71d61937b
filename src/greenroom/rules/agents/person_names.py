"""The name that a person sets for themselves. No agent and no other person may use one that looks like it."""

from greenroom.errors import Refused
from greenroom.log.model import Command, Context, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import CREDENTIALS, PersonNamed
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.names import compute_skeleton, need_name


class NamePerson(Command, frozen=True, kw_only=True):
    """Set the name of the calling person that others see."""

    name: str


def name_person(rows: Rows, command: NamePerson, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    assert by.person_id is not None  # noqa: S101 every credential that operates belongs to a person
    name = need_name(command.name, "Your name")
    if name == by.person:
        return []
    looks = compute_skeleton(name)
    alike = rows.find(AGENTS, {"looks": looks, "state": "registered"}, limit=1)
    if alike or looks in find_person_looks(rows, but=by.person_id):
        raise Refused("name_taken", "conflict", name=name)
    return [PersonNamed(person_id=by.person_id, name=name)]


def find_person_looks(rows: Rows, but: str | None = None) -> set[str]:
    """Normalized names of people who can log in, to find similar ones."""
    known = rows.find(CREDENTIALS, {"kind": "operator", "revoked_at": None})
    return {compute_skeleton(one.person) for one in known if one.person and one.person_id != but}
