"""The name that a person gives themselves. No agent and no other person may be taken for them."""

from greenroom.log.errors import Refused
from greenroom.log.model import Command, Context, Event, Rows
from greenroom.nouns.access.decide import need_principal
from greenroom.nouns.access.model import CREDENTIALS, PersonNamed
from greenroom.nouns.agents.model import AGENTS
from greenroom.nouns.agents.names import compute_skeleton, need_name


class NamePerson(Command, frozen=True, kw_only=True):
    """Give the person who calls the name that others see."""

    name: str


def name_person(rows: Rows, command: NamePerson, context: Context) -> list[Event]:
    by = need_principal(command)
    if by.person_id is None:
        raise Refused("no_person", "This credential does not belong to a person: only operators have a name.")
    name = need_name(command.name, "Your name")
    if name == by.person:
        return []
    alike = rows.find(AGENTS, {"looks": compute_skeleton(name), "state": "registered"}, limit=1)
    if alike or is_name_of_person(rows, name, but=by.person_id):
        raise Refused("name_taken", f"'{name}' is the name of another person or agent, or looks like it.", "conflict")
    return [PersonNamed(person_id=by.person_id, name=name)]


def is_name_of_person(rows: Rows, name: str, but: str | None = None) -> bool:
    """Whether a person who can log in has this name, or one that looks like it."""
    looks = compute_skeleton(name)
    known = rows.find(CREDENTIALS, {"kind": "operator", "revoked_at": None})
    return any(one.person and one.person_id != but and compute_skeleton(one.person) == looks for one in known)
