"""Checks whether a profile could start on this machine, without starting it."""

import asyncio
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from greenroom.link import frames
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.node.launch_env import build_environment
from greenroom.node.sandbox import make_sandbox
from greenroom.runtimes.contract import Driver, ModelLister
from greenroom.runtimes.launch_error import explain_failure
from greenroom.runtimes.models import explain_unknown_model
from greenroom.sentences import Sentence, build_sentence
from greenroom.validation import build_named_problem


def find_problems(definition: ProfileDefinition, env: Mapping[str, str], folder: Path) -> list[Sentence]:
    """What prevents a start, each with its key and what to do about it."""
    out: list[Sentence] = []
    directory = Path(definition.directory).expanduser() if definition.directory else None
    if directory is not None and not directory.is_dir():
        out.append(
            build_named_problem("directory", build_sentence("profile_problem.no_directory", directory=directory))
        )
    program = _find_program(definition, env)
    if definition.command and program is None:
        named = definition.command[0]
        if "/" in named:
            out.append(build_named_problem("command", build_sentence("profile_problem.not_executable", program=named)))
        else:
            out.append(build_named_problem("command", build_sentence("profile_problem.not_on_path", program=named)))
    missing = [name for name in definition.pass_env if name not in env]
    if missing:
        out.append(build_named_problem("pass_env", build_sentence("profile_problem.unset", names=missing)))
    try:
        box = make_sandbox(definition.sandbox, folder, env.get("HOME"), [])
        if box is not None:
            box.find_shown(program or sys.executable, directory or folder / "work" / "agent")
    except (OSError, ValueError) as error:
        out.append(build_named_problem("sandbox", explain_failure(error)))
    return out


async def find_unknown_model(
    driver: Driver | None, definition: ProfileDefinition, env: Mapping[str, str], folder: Path
) -> list[Sentence]:
    """What is wrong with a model, if the runtime can list those it knows."""
    if definition.model is None or not isinstance(driver, ModelLister):
        return []
    directory = Path(definition.directory).expanduser() if definition.directory else folder
    own = build_environment(definition, dict(env))
    known = await driver.find_models(definition.command, own, directory if directory.is_dir() else folder)
    wrong = explain_unknown_model(definition.model, known) if known is not None else None
    return [] if wrong is None else [build_named_problem("model", wrong)]


async def check_profile(
    wish: frames.Look, drivers: Mapping[str, Driver], env: Mapping[str, str], folder: Path
) -> frames.Looked:
    """The answer to a hub that asks whether a profile could be started here."""
    missing = ""
    try:
        definition = msgspec.convert(wish.definition, ProfileDefinition)
        found = await asyncio.to_thread(find_problems, definition, env, folder)
        if definition.command and _find_program(definition, env) is None:
            missing = definition.command[0]
        if not found:
            found = await find_unknown_model(drivers.get(definition.driver), definition, env, folder)
    except (msgspec.ValidationError, OSError, ValueError, RuntimeError) as error:
        found = [build_sentence("profile_problem.check_failed", error=error)]
    return frames.Looked(id=wish.id, problems=list(map(str, found)), sentences=found, missing_program=missing)


def _find_program(definition: ProfileDefinition, env: Mapping[str, str]) -> str | None:
    """A name is looked for on PATH only; a path must be whole, for the working directory is never searched."""
    program = definition.command[0] if definition.command else ""
    path = build_environment(definition, dict(env)).get("PATH")
    return shutil.which(program, path=path) if "/" not in program or Path(program).is_absolute() else None
