"""Finds workflows and skills as files: beside each other, in the data directory, or in a profile's directory."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from greenroom.errors import Refused
from greenroom.rules.workflows.checks.definition_check import KnownNames
from greenroom.rules.workflows.checks.problems import Problem
from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.parser.loader import LoadedWorkflow, load_text
from greenroom.rules.workflows.parser.marked_values import MAX_BYTES
from greenroom.rules.workflows.parser.skills import read_skill
from greenroom.runtimes.agents import AGENTS
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.sentences import build_sentence

SKILL_FILE = "SKILL.md"
_FOLDERS = ("skills", ".agents/skills", *(folder for agent in AGENTS for folder in agent.skills))
_UNTOLD = {name: driver.untold for name, driver in DRIVER_INFOS.items()}
_SKILL_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
DirectoryOf = Callable[[str], str | None]
"""Says where a profile works, if it works in one place."""


def build_known(drivers: Mapping[str, str] | None) -> KnownNames:
    """What a workflow is checked against on a hub that has these profiles, each with its driver; None: without one."""
    if drivers is None:
        return KnownNames(untold=_UNTOLD)
    profiles = frozenset(drivers)
    return KnownNames(profiles=profiles, runtimes=frozenset(DRIVER_INFOS) | profiles, drivers=drivers, untold=_UNTOLD)


def load_file(
    file: Path,
    data: Path,
    known: KnownNames | None = None,
    *,
    need_skills: bool = True,
    directory_of: DirectoryOf = lambda _: None,
) -> LoadedWorkflow:
    """The workflow in a file, with its skills and nested workflows. Raises BadWorkflow; Refused if it is no text."""
    text = _read(file)
    if text is None:
        raise _build_unreadable(file)
    here = file.resolve().parent
    places = (here, Path.cwd(), data)

    def find(step: Step) -> str | None:
        found = find_skill(step.skill or "", places)
        own = directory_of(_guess_profile(step)) if found is None else None
        return find_skill(step.skill or "", (Path(own),)) if own else found

    if need_skills:
        return load_text(text, str(file), known=known, find_skill=find, find_file=lambda name: _read(here / name))
    loaded = load_text(text, str(file), known=known, find_file=lambda name: _read(here / name))
    return dataclasses.replace(loaded, definition=embed_skills(loaded.definition, places, {}))


def _guess_profile(step: Step) -> str:
    """The profile that a step is probably done by: a runtime without one is often found under its own name."""
    return step.profile or step.agent_runtime or ""


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


def embed_skills(
    definition: WorkflowDefinition, places: Iterable[Path], directories: dict[str, str | None]
) -> WorkflowDefinition:
    """The definition with the texts of those skills that it only names, as far as this machine has them.

    They are looked for where the step's profile works (`directories` by profile), then in the places.
    """
    places = tuple(places)
    found = dict(definition.skills)
    for _, step in _find_steps(definition):
        own = directories.get(_guess_profile(step))
        if step.skill is not None and step.skill not in found:
            text = find_skill(step.skill, (Path(own), *places) if own else places)
            if text is not None:
                found[step.skill] = read_skill(text)
    nested = {name: embed_skills(inner, places, directories) for name, inner in definition.workflows.items()}
    return msgspec.structs.replace(definition, skills=found, workflows=nested)


def find_missing_skills(definition: WorkflowDefinition) -> list[Problem]:
    """The skills that nobody has found."""
    out: list[Problem] = []
    for at, step in _find_steps(definition):
        if step.skill is not None and step.skill not in definition.skills:
            message = build_sentence("workflow_problem.skill_missing", skill=step.skill[:64])
            remedy = build_sentence("workflow_remedy.skill_file", skill=step.skill[:64], file=SKILL_FILE)
            path = ("steps", at, "skill")
            out.append(Problem(code="unknown_skill", message=message, remedy=remedy, path=path, step=step.id))
    for inner in definition.workflows.values():
        out += find_missing_skills(inner)
    return out


def _find_steps(definition: WorkflowDefinition) -> Iterator[tuple[int, Step]]:
    """All steps with their places, and those that would take them back."""
    for at, step in enumerate(definition.steps):
        for one in (step, *step.rollback):
            yield at, one


def _build_unreadable(path: Path) -> Refused:
    """Why a file cannot be read, and what to do."""
    if path.is_dir():
        return Refused("cannot_read.directory", path=path)
    try:
        with path.open("rb") as file:
            size = len(file.read(MAX_BYTES + 1))
    except FileNotFoundError:
        return Refused("cannot_read.missing", path=path)
    except OSError as error:
        return Refused("cannot_read", path=path, error=error.strerror)
    if size > MAX_BYTES:
        return Refused("cannot_read.too_large", path=path, limit_kb=MAX_BYTES // 1000)
    return Refused("cannot_read.no_text", path=path)


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return None
