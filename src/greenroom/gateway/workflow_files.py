"""Workflows and skills as files: found beside each other, in the data directory, or where a profile works."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from greenroom.log.errors import Refused
from greenroom.nouns.workflows.checking.check import Known
from greenroom.nouns.workflows.checking.problems import Problem
from greenroom.nouns.workflows.definition import Definition
from greenroom.nouns.workflows.reading.load import Loaded, load_text
from greenroom.nouns.workflows.reading.marked import MAX_BYTES
from greenroom.nouns.workflows.reading.skills import read_skill

SKILL_FILE = "SKILL.md"
_FOLDERS = ("skills", ".agents/skills", ".claude/skills")
_SKILL_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def load_file(file: Path, data: Path, known: Known | None = None) -> Loaded:
    """The workflow in a file, with its skills and nested workflows. Raises BadWorkflow; Refused if it is no text."""
    text = _read(file)
    if text is None:
        raise Refused("cannot_read", f"{file} cannot be read as a workflow: is it there, and a text of at most 200 kB?")
    here = file.resolve().parent
    return load_text(
        text,
        str(file),
        known=known,
        find_skill=lambda skill: find_skill(skill, (here, Path.cwd(), data)),
        find_file=lambda name: _read(here / name),
    )


def find_skill(skill: str, places: Iterable[Path]) -> str | None:
    """The text of a skill's SKILL.md in the first of these directories that has it."""
    if not _SKILL_ID.fullmatch(skill):
        return None
    for place in places:
        for folder in _FOLDERS:
            text = _read(place / folder / skill / SKILL_FILE)
            if text is not None:
                return text
    return None


def embed_skills(definition: Definition, data: Path, directories: dict[str, str | None]) -> Definition:
    """The definition with the texts of those skills that it only names, as far as this machine has them.

    They are looked for where the step's profile works (`directories` by profile), then in the data directory.
    """
    found = dict(definition.skills)
    for step, skill in _find_named(definition):
        place = directories.get(step or "")
        text = find_skill(skill, [Path(place), data] if place else [data])
        if text is not None and skill not in found:
            found[skill] = read_skill(text)
    return msgspec.structs.replace(definition, skills=found)


def missing_skills(definition: Definition) -> list[Problem]:
    """The skills that nobody has found."""
    out: list[Problem] = []
    for at, step in enumerate(definition.steps):
        if step.skill is not None and step.skill not in definition.skills:
            message = f"the skill '{step.skill[:64]}' is not found"
            remedy = f"write skills/{step.skill[:64]}/{SKILL_FILE} in the data directory"
            path = ("steps", at, "skill")
            out.append(Problem(code="unknown_skill", message=message, remedy=remedy, path=path, step=step.id))
    return out


def _find_named(definition: Definition) -> Iterator[tuple[str | None, str]]:
    for step in definition.steps:
        for one in (step, *step.rollback):
            if one.skill is not None and one.skill not in definition.skills:
                yield one.profile, one.skill


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return None
