"""The skills of a profile: reads their texts when an agent starts, and adds them to its instructions."""

from pathlib import Path

import msgspec

from greenroom.link.orders import StartOrder
from greenroom.rules.workflows.parser.skills import read_skill
from greenroom.sentences import Sentence, build_sentence
from greenroom.services.workflow_files import SKILL_FILE, find_skill
from greenroom.validation import build_named_problem


def add_skills(order: StartOrder, data: Path) -> StartOrder:
    """An order to start an agent, with the skills of its profile; the names of those that nobody has."""
    definition, names = order.definition, order.definition.skills
    if not names:
        return order
    texts = _find_all(names, definition.directory, data)
    parts = [definition.instructions or "", *(_format_skill(name, text) for name, text in texts.items())]
    instructions = "\n\n".join(part for part in parts if part)
    missing = [name for name in names if name not in texts]
    told = msgspec.structs.replace(definition, instructions=instructions)
    return msgspec.structs.replace(order, definition=told, missing_skills=missing)


def find_missing_skills(names: list[str], directory: str | None, data: Path) -> list[Sentence]:
    """Those that nobody has, each with what to write."""
    found = _find_all(names, directory, data)
    return [
        build_named_problem("skills", build_sentence("profile_problem.skill_missing", skill=name[:64], file=SKILL_FILE))
        for name in names
        if name not in found
    ]


def _find_all(names: list[str], directory: str | None, data: Path) -> dict[str, str]:
    """The texts by name: of where the agent works, if that is on this machine, else of the data directory."""
    places = [*([Path(directory).expanduser()] if directory else []), data]
    texts = {name: find_skill(name, places) for name in names}
    return {name: text for name, text in texts.items() if text is not None}


def _format_skill(name: str, text: str) -> str:
    skill = read_skill(text)
    about = f"{skill.description}\n\n" if skill.description else ""
    return f"# Skill: {skill.name or name}\n\n{about}{skill.text}"
